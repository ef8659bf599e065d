/**
 * How the page looks: one stack of typefaces, one scale (13, 16, 20, 28, 44 pixels), one accent, and lines no heavier
 * than they must be. Two shades of the accent tell net from refunds, which a colour-blind reader sees as light and dark.
 */
export const look = `
:root{color-scheme:light dark;--paper:#fff;--ink:#16191d;--soft:#59636e;--line:#e3e6ea;--accent:#0a5ea8;--tint:#9cc4e8;--before:#8a94a0;--heat:10,94,168}
@media (prefers-color-scheme:dark){@media not print{:root{--paper:#121518;--ink:#e9ecef;--soft:#a2acb7;--line:#2b3138;--accent:#74b6f3;--tint:#2f5f8c;--before:#7b8691;--heat:116,182,243}}}
*{box-sizing:border-box}
html{background:var(--paper);-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:70rem;padding:clamp(1.5rem,5vw,4rem) clamp(1rem,5vw,4rem);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
h1,h2,h3,p,ul,dl,dd,figure{margin:0;padding:0}
h1{font-size:44px;line-height:1.1;font-weight:700;letter-spacing:-.02em;text-wrap:balance}
h2{font-size:28px;line-height:1.2;font-weight:700;letter-spacing:-.01em}
h3,caption{font-size:16px;line-height:1.35;font-weight:600;text-align:left}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
code{font:inherit;letter-spacing:0}
i{color:var(--soft);font-style:normal}
bdi{overflow-wrap:anywhere}
th bdi,td bdi,li bdi{display:-webkit-inline-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;vertical-align:top}
.brand{color:var(--soft);font-size:20px;margin-bottom:.25rem}
.summary{font-size:20px;line-height:1.4;max-width:44rem;margin-top:1rem;text-wrap:pretty}
.badge{margin-top:.75rem}
section{margin-top:4.5rem}
.lead{color:var(--soft);max-width:44rem;margin-top:.5rem;text-wrap:pretty}
.lead+*,h2+*{margin-top:1.5rem}
h2+.lead{margin-top:.5rem}
.lead+.metrics{margin-top:1.5rem}
.note,.source{color:var(--soft);font-size:13px;max-width:44rem;margin-top:.75rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.money{border-top:1px solid var(--line);padding:1.25rem 0}
.metrics{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:1.25rem 2rem;margin-top:.5rem}
.metrics.three{grid-template-columns:repeat(3,minmax(0,1fr))}
dt{color:var(--soft);font-size:13px}
dd b{display:block;font-size:28px;line-height:1.2;font-weight:600;letter-spacing:-.015em;overflow-wrap:anywhere}
.metrics div:first-child b{color:var(--accent)}
.three div:first-child b{color:inherit}
dd span{display:block;color:var(--soft);font-size:13px}
dd .whole{display:inline-block}
em{font-style:normal;color:var(--ink);font-weight:600}
figure,.money+figure{margin-top:2.5rem}
figure:first-of-type{margin-top:1.5rem}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;color:var(--soft);font-size:13px;margin-top:.25rem}
.key svg{height:10px;margin-right:.4rem;vertical-align:-1px}
.now{fill:var(--accent)}.tint{fill:var(--tint)}path.before{stroke:var(--before);stroke-width:1.5;stroke-dasharray:4 3}
.chart{display:block;width:100%;height:auto;margin-top:.75rem}
.chart text{font-family:inherit}
.narrow{display:none}
.pair{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.5rem 3rem;align-items:start}
.columns{columns:2;column-gap:3rem}
.columns>div{break-inside:avoid;padding-bottom:2rem}
section>h3{margin-top:2.5rem}
h3+*{margin-top:.5rem}
.months{grid-template-columns:minmax(0,4fr) minmax(0,5fr);gap:1.5rem 2.5rem}
.pair+.pair,.pair.even{margin-top:1.5rem}
table{width:100%;border-collapse:collapse;font-size:14px;line-height:1.35}
caption{padding:0 0 .5rem}
table+.source{margin-bottom:2rem}
th,td{padding:.45rem 0 .45rem 1rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
th:first-child{padding-left:0}
thead th{color:var(--soft);font-size:13px;vertical-align:bottom}
tbody th{min-width:6.5rem}
.n{text-align:right}
.n,.short,.whole{white-space:nowrap}
thead th.n{white-space:normal}
.late{color:var(--ink);font-size:13px;font-weight:600;border-bottom:2px solid var(--accent)}
.bar{display:block;width:100%;height:3px;margin-top:.35rem;fill:var(--accent)}
.rail{fill:var(--line)}
ul{list-style:none}
li{padding:.2rem 0}
li .note{margin-left:.5rem}
.plain li{padding:.35rem 0;max-width:34rem}
.scroll{overflow-x:auto;margin-top:.5rem}
.triangle{width:auto;min-width:60%}
.triangle td,.triangle th{padding:.45rem .75rem}
.triangle th:first-child{padding-left:0;min-width:6rem}
.heat1{background:rgba(var(--heat),.07)}.heat2{background:rgba(var(--heat),.14)}.heat3{background:rgba(var(--heat),.21)}.heat4{background:rgba(var(--heat),.28)}
details{margin-top:.5rem}
summary{cursor:pointer;color:var(--accent);font-size:13px;padding:.35rem 0;width:fit-content}
details table{max-width:44rem}
footer{margin-top:4.5rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:13px}
@media screen and (max-width:860px){.pair,.pair.even,.pair.months{grid-template-columns:minmax(0,1fr)}.columns{columns:1}.pair .chart{max-width:36rem}}
@media screen and (max-width:640px){h1{font-size:28px;line-height:1.15}h2{font-size:20px}dd b{font-size:20px}.summary,.brand{font-size:16px}section{margin-top:3rem}.metrics,.metrics.three{grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem 1.25rem}.wide,.spare{display:none}.narrow{display:block}table{font-size:13px}th,td{padding-left:.5rem}tbody th{min-width:4.5rem}}
@page{margin:15mm}
@media print{body{padding:0;max-width:none;font-size:11pt}h1{font-size:24pt}h2{font-size:15pt}dd b{font-size:15pt}section{margin-top:9mm}h2,h3,.lead,.key,caption,thead{break-after:avoid}.months .wide{display:none}.months .narrow{display:block}figure,tr,.money,.pair>div{break-inside:avoid}.months{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem}.months>div:first-child{flex:0 0 260px}.months>div:last-child{flex:1 1 max-content}.pair.even{display:flex;flex-wrap:wrap}.pair.even>div{flex:1 1 40%}.lead{break-inside:avoid}.months table{font-size:8pt}.months th,.months td{padding:.3rem 0 .3rem .6rem}.scroll{overflow:visible}details,.badge a{text-decoration:none}details:not([open]){display:none}a{color:inherit}table{font-size:9pt}.triangle{font-size:7.5pt}.triangle td,.triangle th{padding:.3rem .35rem}.heat1,.heat2,.heat3,.heat4,.bar{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
