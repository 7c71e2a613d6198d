import { testRows } from './runs.ts'

// docs/design/verdict.md#result-order: order, high-water marks, configurations
testRows([
  {
    title: 'a result counts once: duplicates are history',
    run: 'us 0 . 60 x[s=60] 60.1 x[s=60] 60.2 x[s=60] 60.3 x[s=60]',
    statuses: 'up@0',
    ignored: 3,
  },
  {
    title: 're-checks of one slot count each',
    run: 'us 0 . 60 x[s=60] 61 x[s=60,a=2] 64 x[s=60,a=3]',
    statuses: 'up@0 down@64',
    ignored: 0,
  },
  {
    title: 'a re-check that arrives after the next slot is history',
    run: 'us 0 . 60 x[s=60] 121 .[s=120] 122 x[s=60,a=2] 123 x[s=60,a=3]',
    statuses: 'up@0',
    ignored: 2,
  },
  {
    title: 'the order of slots counts, not the order of arrival',
    run: 'us 200 x[s=180] 201 .[s=60] 202 .[s=120] 203 x[s=180,a=2] 204 x[s=180,a=3]',
    statuses: 'down@204',
    ignored: 2,
  },
  {
    title: 'an hour of spooled results that arrives after live results changes nothing',
    run: `us 0 .  3600 .
          us 3601..3660/1 x[s=1800]
          us 3661 .`,
    statuses: 'up@0',
    ignored: 60,
  },
  {
    title: 'a result more than five seconds in the future is refused',
    run: 'us 0 . 10 x[s=15.001] 11 x[s=3611] 12 x[s=3612] 60 .',
    statuses: 'up@0',
    ignored: 3,
  },
  {
    title: 'a result at most five seconds in the future counts',
    run: 'us 0 . 10 x[s=15] 11 x[s=15,a=2] 12 x[s=15,a=3]',
    statuses: 'up@0 down@12',
    ignored: 0,
  },
  {
    title: 'a refused future result does not block results in time',
    run: 'us 0 . 10 .[s=5000,e=9,c=1] 60 x 61 x 64 x',
    statuses: 'up@0 down@64',
  },
  {
    title: 'a probe whose clock is an hour ahead is refused',
    run: 'us 0 .  60..600/60 x[s=4200]',
    statuses: 'up@0',
    ignored: 10,
  },
  {
    title: 'a probe whose clock is an hour behind cannot contradict a correct one',
    run: 'us 3600 . 3601 x[s=1,p=p2] 3602 x[s=2,p=p2] 3603 x[s=3,p=p2]',
    statuses: 'up@3600',
    ignored: 3,
  },
  {
    title: 'a probe whose clock is an hour behind decides correctly when it is alone',
    run: 'us 3600 .[s=0] 3660 x[s=60] 3661 x[s=60,a=2] 3664 x[s=60,a=3]',
    statuses: 'up@3600 down@3664',
  },
  {
    title: 'results of an older epoch are history once a newer one was seen',
    run: 'us 0 . 60 .[e=2,p=p2] 61 x 62 x 63 x 64 x',
    statuses: 'up@0',
    ignored: 4,
  },
  {
    title: 'a newer epoch is seen also in a result that comes too late',
    run: 'us 0 . 60 x 61 x 62 .[e=2,p=p2,s=30] 63 x',
    statuses: 'up@0',
    ignored: 2,
  },
  {
    title: 'a hand-over during a streak continues it',
    run: 'us 0 . 60 x[s=60] 61 x[s=60,a=2] 66 x[s=66,e=2,p=p2]',
    statuses: 'up@0 down@66',
  },
  {
    title: 'two probes that both check a slot during a hand-over do not count it twice',
    run: 'us 0 . 60 x[s=60] 61 x[s=60,a=2] 61.1 x[s=60,e=2,p=p2] 62.1 x[s=60,a=2,e=2,p=p2] 63.1 .[s=60,a=3,e=2,p=p2]',
    statuses: 'up@0',
    ignored: 2,
  },
  {
    title: 'results of a probe that is cut off do not count',
    run: `us  0 .  60 .[e=2,p=p2]  61..600/7 x
          us  120..600/60 .[e=2,p=p2]`,
    statuses: 'up@0',
  },
  {
    title: 'an epoch of one region says nothing about another region',
    run: `us  0 .  60 .[e=7]
          eu  0 .  60 x 61 x 64 x
          us  70 .[e=7]`,
    statuses: 'up@0 degraded@70',
  },
  {
    title: 'another target or other assertions begin streaks again',
    run: `us      0 .  60 x 61 x  70 x[c=2] 71 x[c=2]  130 .[c=2]
          policy  65 c=2`,
    statuses: 'up@0',
  },
  {
    title: 'a change of another setting, such as a header, keeps the streak',
    run: `us      0 .  60 x 61 x  70 x[c=2]  130 .[c=2] 135 .[c=3]
          policy  65 c=2,keep=1  132 c=3,keep=1`,
    statuses: 'up@0 down@70 up@135',
  },
  {
    title: 'a monitor that is changed more often than its re-checks take goes down nevertheless',
    run: `us      0 .  60 x  70 x[c=2]  80 x[c=3]
          policy  65 c=2,keep=1  75 c=3,keep=1`,
    statuses: 'up@0 down@80',
  },
  {
    title: 'results of an older configuration are history',
    run: `us      0 .  60 x 61 x  66 x 67 x
          policy  65 c=2`,
    statuses: 'up@0',
    ignored: 2,
  },
  {
    title: 'a result of a configuration that is not known yet does not count',
    run: 'us 0 . 60 x[c=2] 61 x[c=2] 64 x[c=2]',
    statuses: 'up@0',
    ignored: 3,
  },
  {
    title: 'a result of a region that the monitor does not use does not count',
    policy: { regions: ['us-east'] },
    run: `us  0 .
          eu  10 x 11 x 14 x`,
    statuses: 'up@0',
    ignored: 3,
  },
  {
    title: 'a new configuration keeps status, region states and votes',
    run: `us      0 x 1 x 4 x   70 x[c=2]  120 .[c=2] 125 .[c=2]
          eu      0 x 1 x 5 x
          ap      0 .
          policy  65 c=2`,
    statuses: 'down@5',
    regions: 'us=ok eu=failing ap=ok',
  },
  {
    title: 'retry_count raised while failing: the region stays failing and needs two successes',
    run: `us      0 x 1 x 4 x  60 .[c=2] 65 x[c=2]  120 .[c=2] 125 .[c=2]
          policy  50 c=2,retry=5`,
    statuses: 'down@4 up@125',
  },
  {
    title: 'retry_count lowered to 0 in a growing streak: the next failure decides',
    run: `us      0 .  60 x 61 x  70 x[c=2]
          policy  65 c=2,retry=0`,
    statuses: 'up@0 down@70',
  },
  {
    title: 'retry_count lowered to 0 while failing: one success ends it',
    run: `us      0 x 1 x 4 x  60 .[c=2]
          policy  50 c=2,retry=0`,
    statuses: 'down@4 up@60',
  },
  {
    title: 'regions removed while failing: their votes are removed, and the next result decides',
    run: `us      0 x 1 x 4 x
          eu      0 x 1 x 5 x
          ap      0 .  60 .[c=2]
          policy  50 c=2,regions=ap`,
    statuses: 'down@5 up@60',
    regions: 'ap=ok',
  },
  {
    title: 'regions added while failing: held until more than half of the new ones vote',
    run: `us      0 x 1 x 4 x   60 .[c=2] 65 .[c=2]
          eu      70 .[c=2]
          ap      90 .[c=2]
          policy  50 c=2,regions=us+eu+ap`,
    policy: { regions: ['us-east'] },
    statuses: 'down@4 up@70',
  },
  {
    title: 'a shorter interval while failing does not let an old vote decide alone',
    policy: { intervalMs: 3_600_000 },
    run: `us      0 .  3600 .  4000 x[c=2] 4001 x[c=2] 4004 x[c=2]  4030..4270/30 x[c=2]  4300 x[c=2]
          eu      0 .  100 .
          ap      0 .  100 .
          policy  3999 c=2,interval=30`,
    statuses: 'up@0 down@4300(reduced)',
  },
  {
    title: 'a longer interval while degraded lets old votes count longer',
    run: `us      0 .  60 x 61 x 64 x   1000 x[c=2]
          eu      0 .  60.5 .
          policy  900 c=2,interval=3600`,
    statuses: 'up@0 degraded@64',
  },
  {
    title: 'a resumed monitor ignores earlier results: results of the older configuration are history',
    policy: { configVersion: 3 },
    run: 'us 0 x[c=2] 1 x[c=2] 4 x[c=2] 10 .[c=3]',
    statuses: 'up@10',
    ignored: 3,
  },
])
