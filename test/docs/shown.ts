import type { answers } from "./answers.js";

/** What `brandapi query` printed for each answer, of the demo's mirror on 22 November 2026: the first lines of it. */
export const shown: Record<(typeof answers)[number]["name"], string> = {
  net: `month    currency  orders  gross_amount  refunded_amount  net_amount
2026-11  EUR           42      13336.62                0    13336.62
2026-11  GBP           54      16943.83              148    16795.83
2026-11  USD           92      26028.43           601.96    25426.47
2026-10  null           1           948                0         948
…`,
  "refund rate": `month    currency  orders  refunded_orders  percent
2026-11  EUR           42                0        0
2026-11  GBP           54                1      0.9
2026-11  USD           92                4      2.3
2026-10  null           1                0        0
…`,
  hosts: `host_username       currency  orders  net_amount  clicks  conversion_rate
amelie_stergaard74  USD            4     2361.88     373           0.0787
uma_ozturk81        USD            5     2038.74     601           0.0493
eowyn.okafor21      USD            5      1990.6     532           0.0794
vera_nguyen14       EUR            4     1747.08     470           0.0417
…`,
  roster: `day         what    host_username
2026-11-22  joined  bjornsanchez86
2026-11-22  joined  meiling_wei48
2026-11-22  joined  umasanchez35
2026-11-22  joined  williamdangelo30
…`,
  commission: `host_username     currency  orders  commission_amount  taken_back
uma_ozturk81      USD           54            2253.56           0
ibrahim.obrien32  USD           60             2229.2       76.43
amelie.sanchez17  USD           53            1964.14           0
ibrahim_tanaka34  USD           37            1894.57           0
…`,
  "late refunds": `order_number  ordered     currency  refunded_amount  days_at_least  days_at_most
null          2026-09-27  GBP                229.95             35            57
null          2026-09-22  GBP                224.99             40            62
#5560         2026-09-13  USD                 78.32             49            71`,
  campaigns: `title                      status     deadline    deliverables_open  assignments_open  payments_open  payout…
Café Rides, Long Days 1    PROPOSED   null                        0                 1              1…
Gear Swap 3                READY      null                        0                 1              0…
Gear Swap 4                ARCHIVED   null                        0                 0              3…
New Year, Same Trails 10   ACTIVE     null                        1                 2              0…
…`,
  content: `host_username         files  images  videos  last_added
umaokafor96              13       8       4  2026-08-20
lenaokafor93             12       6       3  2026-11-17
zoe.novak83               9       4       2  2026-11-13
niamhokafor59             8       3       2  2026-10-02
…`,
  growth: `month    currency  is_partial  net_through  net_before   more
2026-11  EUR                1     13336.62    14608.37   -8.7
2026-11  GBP                1     16795.83     13359.4   25.7
2026-11  USD                1     25426.47    30467.03  -16.5
2026-10  null               0          948        null   null
…`,
  week: `currency  orders  cancelled      net
EUR           14          0  4039.73
GBP           19          0  7147.54
USD           30          0  7858.27`,
};
