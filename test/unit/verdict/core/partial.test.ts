import { testRows } from './runs.ts'

// docs/design/verdict.md#votes: a partial failure waits for the others; requests, outages, two probes of one region.
testRows([
  {
    title: 'the first failed attempt asks the others, later ones of the streak do not',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.2 .`,
    statuses: 'up@0 degraded@64',
    asks: 'first_failure:us@60',
  },
  {
    title: 'the first success in an outage asks the others',
    run: 'us 0 x 1 x 4 x 60 x 120 . 125 x',
    statuses: 'down@4',
    asks: 'first_failure:us@0 first_success:us@120',
  },
  {
    title: 'other regions are asked at most once an interval for a monitor',
    run: `us  0 x 20 .  40 x 59 .  60 x 80 .
          eu  10 x 15 .  61 x 62 .`,
    statuses: 'up@20',
    asks: 'first_failure:us@0 first_failure:us@60',
  },
  {
    title: 'a request that is too soon after another one is made later while the failures continue',
    policy: { intervalMs: 30_000, retryCount: 5 },
    run: `us  0 .  60 x 61 .
          eu  0 .  85 x 86 x 89 x 94 x 99 x`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 first_failure:eu@94',
  },
  {
    title: 'a deferred request in a long partial outage is made once',
    policy: { intervalMs: 30_000 },
    run: `us  0 .  60 x 61 .  85..325/30 .
          eu  0 .  80 x 81 x 84 x  114..300/30 x
          ap  0 .  82..322/30 .`,
    statuses: 'up@0 degraded@85',
    asks: 'first_failure:us@60 first_failure:eu@114',
  },
  {
    title: 'the second success in an outage asks if the first one was too soon after another request',
    policy: { intervalMs: 30_000 },
    run: 'us 0 x 1 x 4 x 28 . 33 .',
    statuses: 'down@4 up@33',
    asks: 'first_failure:us@0 first_success:us@33',
  },
  { title: 'a slow answer causes no request', run: 'us 0 . 60 ~ 61 ~', statuses: 'up@0', asks: '' },
  {
    title: 'failures of a monitor that is down cause no request',
    run: 'us 0 x 1 x 4 x 60..600/60 x',
    statuses: 'down@4',
    asks: 'first_failure:us@0',
  },
  {
    title: 'one region failing waits until the others have answered',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  66 .
          ap  0 .  65 .`,
    statuses: 'up@0 degraded@66',
  },
  {
    title: 'a result from before the request does not count as an answer',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60 .  67 .
          ap  0 .  59.9 .  66 .`,
    statuses: 'up@0 degraded@67',
  },
  {
    title: 'a check that was due before the failing one does not count as an answer, however late its result is',
    policy: { retryCount: 0 },
    run: `us  0 .  60 x
          eu  0 .  60.5 .[s=59]  61 x`,
    statuses: 'up@0 down@61',
  },
  {
    title: 'a re-check that ends well after the failure is an answer, whenever its slot was',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.5 x[s=59]  65 .[s=59,a=2]`,
    statuses: 'up@0 degraded@65',
  },
  {
    title: 'an unknown result does not count as an answer',
    run: `us  0 .  60 x 61 x 64 x 70 x
          eu  0 .  60.5 ?`,
    statuses: 'up@0',
  },
  {
    title: 'the wait for silent regions ends after the timeout and ten seconds',
    run: `us  0 .  60 x 61 x 64 x 79.9 x 80 x
          eu  0 .`,
    statuses: 'up@0 degraded@80',
  },
  {
    title: 'a longer timeout makes the wait longer',
    policy: { timeoutMs: 30_000 },
    run: `us  0 .  60 x 61 x 64 x 99.9 x 100 x
          eu  0 .`,
    statuses: 'up@0 degraded@100',
  },
  {
    title: 'a target that fails everywhere goes from up to down without a degraded in between',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.2 x 61.2 x 64.2 x
          ap  0 .  60.3 x 61.3 x 64.3 x`,
    statuses: 'up@0 down@64.2',
  },
  {
    title: 'a region in the middle of its re-checks has not answered, however long they take',
    policy: { timeoutMs: 30_000 },
    run: `us  0 .  60 x 91 x 124 x
          eu  0 .  90 x 121 x 154 x
          ap  0 .  91 x 122 x 155 x`,
    statuses: 'up@0 down@154',
  },
  {
    title: 'the wait for a region that becomes silent during its re-checks ends after the timeout and ten seconds',
    run: `us  0 .  60 x 61 x 64 x 81 x 82 x
          eu  0 .  60.5 x 62 x`,
    statuses: 'up@0 degraded@82',
  },
  {
    title: 'a region whose re-checks end well has answered',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.5 x 61.5 x 64.5 .`,
    statuses: 'up@0 degraded@64.5',
  },
  {
    title: 'a failure that passes before the others answer leaves the monitor up',
    run: `us  0 .  60 x 61 x 64 x 66 . 71 .
          eu  0 .  71.5 .`,
    statuses: 'up@0',
  },
  {
    title: 'the first verdict of a minority failing waits for the others as well',
    policy: { regions: ['us-east', 'eu-west', 'ap-southeast'] },
    run: `eu  0 .  7 .
          us  0.5 x 1.5 x 4.5 x`,
    statuses: 'degraded@7',
  },
  {
    title: 'a degraded majority does not wait for the others',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  1 ~ 2 ~ 3 ~
          ap  0 .  1 ~ 2 ~ 3 ~`,
    statuses: 'up@0 degraded@3',
  },
  {
    title: 'a monitor is up as soon as no region fails',
    run: `us  0 x 1 x 4 x  60 x  120 . 125 .
          eu  0 x 1 x 5 x  60 x  121 . 126 .
          ap  0 .  60 .  120 .`,
    statuses: 'down@5 up@126',
  },
  {
    title: 'a monitor of which one region still fails stays down for an interval after the majority is back',
    run: `us  0 x 1 x 4 x  60 x  120 . 125 .  180 .  240 .
          eu  0 x 1 x 5 x  60 x  120 x  180 x  184.9 x 185 x
          ap  0 .  60 .  120 .  180 .`,
    statuses: 'down@5 degraded@185',
  },
  {
    title: 'a majority that fails again within the interval restarts it',
    run: `us  0 x 1 x 4 x  60 . 65 .  100 x 101 x 104 x  120 . 125 .  180 .
          eu  0 x 1 x 5 x  60 x  120 x  184.9 x 185 x
          ap  0 .  60 .  120 .  180 .`,
    statuses: 'down@5 degraded@185',
  },
  {
    title: 'an outage lasts until up: down, degraded and down again are one',
    run: `us  0 x 1 x 4 x  60 . 65 .  120 .  180 .  240 x 241 x 244 x  300 . 305 .
          eu  0 x 1 x 5 x  60 x  126 x  180 x  240 x  300 . 305 .
          ap  0 .  60 .  120 .  180 .  240 .  300 .`,
    statuses: 'down@5 degraded@126 down@244 up@305',
  },
  {
    title: 'the first failed attempt of a region that recovered does not make a monitor degraded',
    run: `us  0 .  60 x 61 x 64 x  120 . 125 .  186 x 187 x 190 x
          eu  0 .  60.5 x 61.5 x 64.5 x  120.5 x  180.5 x`,
    statuses: 'up@0 down@64.5',
  },
  {
    title: 'a monitor stays down while one region still fails and the other one is re-checked',
    run: `us  0 .  60 x 61 x 64 x  120 . 125 .  184 x 188.5 x 191.5 x
          eu  0 .  60.5 x 61.5 x 64.5 x  120.5 x  188 x`,
    statuses: 'up@0 down@64.5',
  },
  {
    title: 'a successful re-check of a region that recovered makes a monitor degraded',
    run: `us  0 .  60 x 61 x 64 x  120 . 125 .  186 x 187 .
          eu  0 .  60.5 x 61.5 x 64.5 x  120.5 x  180.5 x`,
    statuses: 'up@0 down@64.5 degraded@187',
  },
  {
    title: 'a re-check without a result is waited for until timeout + 10 s',
    run: `us  0 .  60 x 61 x 64 x  120 . 125 .  186 x
          eu  0 .  60.5 x 61.5 x 64.5 x  120.5 x  180.5 x  205.9 x  206 x`,
    statuses: 'up@0 down@64.5 degraded@206',
  },
  {
    title: 'degraded becomes up when the failing region recovers',
    run: `us  0 .  60 x 61 x 64 x  120 . 125 .
          eu  0 .  60.5 .  120 .`,
    statuses: 'up@0 degraded@64 up@125',
  },
  {
    title: 'from down to degraded needs an interval also when all regions are slow',
    run: 'us 0 x 1 x 4 x 60 ~ 65 ~ 124.9 ~ 125 ~',
    statuses: 'down@4 degraded@125',
  },
  {
    title: 'another probe of the region that reaches the target prevents the decision',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x 64 x',
    statuses: 'up@0',
    disagreements: 'us@64',
    regions: 'us=ok',
  },
  {
    title: 'another probe of the region that fails as well does not prevent the decision',
    run: 'us 0 . 60 x 60.5 x[o,p=p2] 61 x 64 x',
    statuses: 'up@0 down@64',
    disagreements: '',
  },
  {
    title: 'another probe with an unknown result contradicts nothing',
    run: 'us 0 . 60 x 60.5 ?[o,p=p2] 61 x 64 x',
    statuses: 'up@0 down@64',
  },
  {
    title: 'another probe with a slow answer contradicts a failure',
    run: 'us 0 . 60 x 60.5 ~[o,p=p2] 61 x 64 x',
    statuses: 'up@0',
    disagreements: 'us@64',
  },
  {
    title: 'a second opinion does not count in the streak',
    run: 'us 0 . 60 x 60.5 x[o,p=p2] 60.6 x[o,p=p3] 61 x 120 .',
    statuses: 'up@0',
  },
  {
    title: 'a second opinion of the same probe counts like any result',
    run: 'us 0 . 60 x 61 x[asked] 62 x[asked]',
    statuses: 'up@0 down@62',
  },
  {
    title: 'a check on request during a chain neither ends its streak nor counts in it',
    run: 'us 0 . 60 x 60.5 .[extra] 61 x[s=60,a=2] 62 x[extra] 64 x[s=60,a=3]',
    statuses: 'up@0 down@64',
    asks: 'first_failure:us@60',
    ignored: 2,
  },
  {
    title: 'the answer of another region comes from its own probe',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.1 x[asked] 61.1 x[asked,s=60.1,a=2] 64.1 x[asked,s=60.1,a=3]`,
    statuses: 'up@0 down@64.1',
  },
  {
    title: 'the same holds when a probe has just taken over, before its first slot',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.1 x[asked,p=p2,e=2] 61.1 x[asked,p=p2,e=2,s=60.1,a=2] 64.1 x[asked,p=p2,e=2,s=60.1,a=3]`,
    statuses: 'up@0 down@64.1',
  },
  {
    title: 'an opinion from before the streak does not count',
    run: 'us 0 . 30 .[o,p=p2] 60 x 61 x 64 x',
    statuses: 'up@0 down@64',
  },
  {
    title: 'a late opinion, requested in an earlier streak, does not count',
    run: 'us 0 . 60 x 61 . 120 x 120.5 .[o,p=p2,s=60] 121 x 124 x',
    statuses: 'up@0 down@124',
  },
  {
    title: 'a success of the same probe removes the second opinion',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 . 120 x 121 x 124 x',
    statuses: 'up@0 down@124',
  },
  {
    title: 'a disagreement continues while the other probe reaches the target, which is asked again once an interval',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3] 120 x 120.5 .[o,p=p2] 121 x[s=120,a=2] 180 x',
    statuses: 'up@0',
    asks: 'first_failure:us@60 disagreement:us@120 disagreement:us@180',
    disagreements: 'us@64 us@120 us@121 us@180',
  },
  {
    title: 'an outage soon after a disagreement is decided in the next slot, although others were asked recently',
    run: `us  0 .  95 x 95.5 .[o,p=p2] 96 x[s=95,a=2] 99 x[s=95,a=3]  120 x 120.5 x[o,p=p2] 121 x[s=120,a=2]
          eu  0 .  95.3 .  110 x 111 x[s=110,a=2] 114 x[s=110,a=3]`,
    statuses: 'up@0 down@121',
    asks: 'first_failure:us@95 disagreement:us@120',
    disagreements: 'us@99 us@120',
  },
  {
    title: 'another probe that does not answer the next request contradicts for at most the timeout and ten seconds',
    run: 'us 0 . 95 x 95.5 .[o,p=p2] 96 x[s=95,a=2] 99 x[s=95,a=3] 120 x 121 x[s=120,a=2] 139.9 x 140 x',
    statuses: 'up@0 down@140',
    asks: 'first_failure:us@95 disagreement:us@120',
  },
  {
    title: 'a disagreement ends when the other probe fails too',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3] 120 x 120.5 x[o,p=p2] 121 x[s=120,a=2]',
    statuses: 'up@0 down@121',
  },
  {
    title: 'a disagreement ends when the other probe no longer answers',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3] 120 x 121 x[s=120,a=2] 139.9 x 140 x',
    statuses: 'up@0 down@140',
  },
  {
    title: 'a probe that no longer answers stops contradicting, however often it is asked',
    policy: { intervalMs: 30_000, timeoutMs: 30_000 },
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3] 90 x 120 x 150 x',
    statuses: 'up@0 down@150',
    asks: 'first_failure:us@60 disagreement:us@90 disagreement:us@120',
    disagreements: 'us@64 us@90 us@120',
  },
  {
    title: 'an old opinion does not delay an outage: a failure in another region requests it again',
    policy: { intervalMs: 30_000 },
    run: `us  0 .  60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3]  91.2 x[o,p=p2] 92 x
          eu  0 .  91 x 92 x 95 x`,
    statuses: 'up@0 down@95',
    asks: 'first_failure:us@60 first_failure:eu@91',
    disagreements: 'us@64',
  },
  {
    title: 'an opinion that was requested again and does not arrive no longer counts',
    policy: { intervalMs: 30_000 },
    run: `us  0 .  60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[s=60,a=3]  111 x
          eu  0 .  91 x 92 x 95 x`,
    statuses: 'up@0 down@111',
  },
  {
    title: 'a probe that reached the target and then takes over does not contradict itself',
    run: 'us 0 . 60 x 60.5 .[o,p=p2] 61 x[s=60,a=2] 64 x[p=p2,e=2]',
    statuses: 'up@0 down@64',
  },
])
