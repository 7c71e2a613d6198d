import { testRows } from './runs.ts'

// docs/design/verdict.md#votes: majorities, quorum, hold and reduced quorum. A vote counts for 3 x 60 + 10 = 190 s.
testRows([
  {
    title: 'two of three regions failing are down',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.1 x 61.1 x 64.1 x
          ap  0 .  60.2 .`,
    statuses: 'up@0 down@64.1',
  },
  {
    title: 'one of three regions failing is degraded, not down',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.2 .
          ap  0 .  60.2 .`,
    statuses: 'up@0 degraded@64',
  },
  {
    title: 'one of two regions failing is degraded: half is not a majority',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.2 .`,
    statuses: 'up@0 degraded@64',
  },
  {
    title: 'two of four regions failing are degraded: half is not a majority',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.1 x 61.1 x 64.1 x
          ap  0 .  60.2 .
          uw  0 .  60.2 .`,
    statuses: 'up@0 degraded@64.1',
  },
  {
    title: 'three of five regions failing are down',
    run: `us  0 .  60 x 61 x 64 x
          eu  0 .  60.1 x 61.1 x 64.1 x
          ap  0 .  60.2 x 61.2 x 64.2 x
          uw  0 .  60.2 .
          ec  0 .  60.2 .`,
    statuses: 'up@0 down@64.2',
  },
  {
    title: 'one of three regions degraded leaves a monitor up',
    run: `us  0 .  60 ~ 61 ~ 64 ~
          eu  0 .  60 .
          ap  0 .  60 .`,
    statuses: 'up@0',
    regions: 'us=degraded eu=ok ap=ok',
  },
  {
    title: 'two of three regions degraded are degraded',
    run: `us  0 .  60 ~ 61 ~ 64 ~
          eu  0 .  60 ~ 61 ~ 65 ~
          ap  0 .  60 .`,
    statuses: 'up@0 degraded@65',
  },
  {
    title: 'one of two regions degraded leaves a monitor up',
    run: `us  0 .  60 ~ 61 ~ 64 ~
          eu  0 .  60 .`,
    statuses: 'up@0',
  },
  {
    title: 'one failing and one degraded of two regions are degraded',
    run: `us  0 .  60 ~ 61 ~ 64 ~
          eu  0 .  60 x 61 x 65 x`,
    statuses: 'up@0 degraded@65',
  },
  {
    title: 'the first verdict needs more than half of the regions',
    run: `us  0 .  60 .
          eu  70 .
          ap  500 .`,
    statuses: 'up@70',
  },
  {
    title: 'a region that has not decided yet has no vote',
    run: `us  0 x 1 x
          eu  0 .  60 .`,
    statuses: '',
    regions: 'us=pending eu=ok',
    policy: { regions: ['us-east', 'eu-west', 'ap-southeast'] },
  },
  {
    title: 'the first verdict of two regions failing is down',
    run: `us  0 x 1 x 4 x
          eu  0 x 1 x 5 x
          ap  0 .`,
    statuses: 'down@5',
  },
  {
    title: 'a vote is counted until 3 intervals and the timeout have passed',
    run: `us  0..420/60 .
          eu  0..420/60 .
          ap  0 x 1 x 4 x
          us  193.9 .  194 .`,
    statuses: 'up@0 degraded@60 up@194',
  },
  {
    title: 'an old vote changes nothing by itself, only a result does',
    run: `us  0 .  20 .  1000 ?
          eu  0 .
          ap  0 x 1 x 4 x`,
    statuses: 'up@0 degraded@20',
  },
  {
    title: 'a vote is renewed by every counting result',
    run: `us  0..600/180 .
          eu  0..600/180 .`,
    statuses: 'up@0',
  },
  {
    title: 'a vote is not renewed by an unknown result',
    run: `us  0..1200/60 .
          eu  0 x 1 x 4 x  60..1200/60 ?
          ap  0..1200/60 .`,
    statuses: 'up@0 degraded@60 up@240',
  },
  {
    title: 'a monitor of two regions is held while one is silent',
    run: `us  0..180/60 .  240 x 241 x 244 x  300..480/60 x
          eu  0 .`,
    statuses: 'up@0',
  },
  {
    title:
      'of two regions one vanishes and the other fails later: held, then down by reduced quorum after five minutes',
    run: `us  0..300/60 .  360 x 361 x 364 x  420..600/60 x
          eu  0 .`,
    statuses: 'up@0 down@540(reduced)',
  },
  {
    title: 'of three regions two vanish: the last one may not decide before five minutes',
    run: `us  0..180/60 .  240 x 241 x 244 x  300..480/60 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0',
  },
  {
    title: 'the five minutes count from the moment at which the quorum was lost',
    run: `us  0..180/60 .  240 x 241 x 244 x  300..480/60 x 490 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0 down@490(reduced)',
  },
  {
    title: 'the quorum is lost when the second of three regions falls silent',
    run: `us  0..180/60 .  240 x 241 x 244 x  300..540/60 x 549.9 x 550 x
          eu  0 .
          ap  0 . 60 .`,
    statuses: 'up@0 down@550(reduced)',
  },
  {
    title: 'a quorum that comes back within five minutes ends the wait',
    run: `us  0..720/60 .
          eu  0 .  400 .
          ap  0 .
          us  730 x 731 x 734 x 780..880/10 x  889.9 x 890 x
          eu  740 ?`,
    statuses: 'up@0 down@890(reduced)',
  },
  {
    title: 'a blackout of all regions: the first one back does not decide',
    run: `us  0 .  1000 x 1001 x 1004 x  1060..1240/60 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0',
  },
  {
    title: 'a blackout of all regions: a majority that is back decides immediately',
    run: `us  0 .  1000 x 1001 x 1004 x
          eu  0 .  1000 x 1001 x 1005 x
          ap  0 .`,
    statuses: 'up@0 down@1005',
  },
  {
    title: 'a blackout of all regions: the first one back decides after five minutes alone',
    run: `us  0 .  1000 x 1001 x 1004 x  1060..1240/60 x 1299.9 x 1300 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0 down@1300(reduced)',
  },
  {
    title: 'a gap without any vote restarts the five minutes',
    run: `us  0 .  100..400/60 x  700 x  760..940/60 x 999 x 1000 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0 down@1000(reduced)',
  },
  {
    title: 'a region that takes over from another one without a gap keeps the five minutes running',
    policy: { regions: ['us-east', 'eu-west', 'ap-southeast', 'us-west', 'eu-central'] },
    run: `us  0..300/60 .
          eu  0 .  480 x 481 x 485 x 489.9 x 491 x
          ap  0 .`,
    statuses: 'up@0 down@491(reduced)',
  },
  {
    title: 'a new monitor with three regions of which one reports: a verdict after three intervals, by reduced quorum',
    policy: { regions: ['us-east', 'eu-west', 'ap-southeast'] },
    run: 'us 0..360/60 .',
    statuses: 'up@180(reduced)',
  },
  {
    title: 'the first verdict of a monitor with a long interval waits for five minutes at most',
    policy: { regions: ['us-east', 'eu-west', 'ap-southeast'], intervalMs: 280_000 },
    run: 'us 0..840/280 .',
    statuses: 'up@560(reduced)',
  },
  {
    title: 'a check outside the schedule gives no first verdict before the other regions had their time',
    policy: { regions: ['us-east', 'eu-west'] },
    run: `us  0 x 1 x 4 x  60 x  100 x  149 x
          eu  150 .`,
    statuses: 'degraded@150',
  },
  {
    title: 'a recovery by reduced quorum is marked as reduced',
    run: `us  0 x 1 x 4 x  60..240/60 x  300..540/60 .
          eu  0 x 1 x 4 x`,
    statuses: 'down@4 up@540(reduced)',
  },
  {
    title: 'a monitor of one region is never held',
    run: 'us 0 . 5000 x 5001 x 5004 x',
    statuses: 'up@0 down@5004',
  },
  {
    title: 'unknown results in all regions change nothing',
    run: `us  0 .  60..900/60 ?
          eu  0 .  60..900/60 ?
          ap  0 .  60..900/60 -`,
    statuses: 'up@0',
  },
])
