const [letter, line, edge] = [8.4, 19, 16];
const colors: Readonly<Record<string, string>> = { "36": "#5bb8d6" };

// Built from a string, because linters reject control characters in regular expressions.
const colorCode = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);

export function drawTerminal(command: string, lines: readonly string[]): string {
  const all = [`\u001b[2m$\u001b[22m ${command}`, ...lines];
  const [width, height] = [80 * letter + 2 * edge, all.length * line + 2 * edge];
  const texts = all.map((text, nth) => {
    const y = edge + (nth + 0.75) * line;
    return `<text x="${edge}" y="${y}" xml:space="preserve">${spansOf(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<rect width="100%" height="100%" rx="8" fill="#14181d"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#dde3ea">
${texts.join("\n")}
</g>
</svg>
`;
}

function spansOf(text: string): string {
  let [weight, color, opacity] = ["", "", ""];
  return text
    .split(colorCode)
    .map((piece, nth) => {
      if (nth % 2 === 0) {
        const style = `${weight}${color}${opacity}`;
        const safe = piece.replace(/&/g, "&amp;").replace(/</g, "&lt;");
        return style === "" || safe === "" ? safe : `<tspan${style}>${safe}</tspan>`;
      }
      if (piece === "1") weight = ' font-weight="bold"';
      else if (piece === "2") opacity = ' opacity="0.6"';
      else if (piece === "22") [weight, opacity] = ["", ""];
      else color = colors[piece] ? ` fill="${colors[piece]}"` : "";
      return "";
    })
    .join("");
}
