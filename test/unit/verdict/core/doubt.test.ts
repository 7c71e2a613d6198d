import { testRows } from './runs.ts'

const alone = { regions: ['us-east'], witness: true }
const fails = 'us 60 x[d] 61 x[d,s=60,a=2] 64 x[d,s=60,a=3]'

// docs/design/doubt.md: failures that many hosts begin to have at the same time wait for a second region.
testRows([
  {
    title: 'a doubted region that recovers in its next check does not make the monitor down',
    policy: alone,
    run: `us 0 .  94 . 99 .
          ${fails}`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60',
    regions: 'us=ok',
  },
  {
    title: 'one success ends a doubt: failures after it start a new streak',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 . 99 x[s=94,a=2]  124 x[d] 125 x[d,s=124,a=2]  154 ~ 155 x[s=154,a=2]
          ${fails}`,
    statuses: 'up@0',
    regions: 'us=ok',
  },
  {
    title: 'without a witness a doubted region decides alone in its next check',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 x[d]  120 x[d]
          ${fails}`,
    statuses: 'up@0 down@94',
    asks: 'first_failure:us@60',
  },
  {
    title: 'a check soon after the first failure, such as one on request, does not decide',
    policy: { ...alone, witness: false },
    run: `us 0 .  70 x[d]  95 x[d]
          ${fails}`,
    statuses: 'up@0 down@95',
  },
  {
    title: 'a witness that does not answer delays nothing',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}`,
    statuses: 'up@0 down@94',
    asks: 'first_failure:us@60 witness@60',
  },
  {
    title: 'a witness without an answer proves nothing, because it may be unable to reach the target itself',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 x[w] 70 x[w,s=65]`,
    statuses: 'up@0 down@94',
  },
  {
    title: 'a witness without an answer does not revoke the answer of another witness',
    policy: alone,
    run: `us 0 .  94 x[d] 124 x[d]
          ${fails}
          eu 62 .[w]
          ap 96 x[w,s=95]`,
    statuses: 'up@0',
  },
  {
    title: 'a server error that a witness gets before the re-checks end makes the monitor down with the last of them',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 62 x[w,code=503]`,
    statuses: 'up@0 down@64',
  },
  {
    title: 'a server error of one witness counts less than the answer of another one asked at the same time',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 61 x[w,s=61,code=503]
          ap 62 .[w,s=61]`,
    statuses: 'up@0',
  },
  {
    title: 'a server error of a witness counts less also when the answer arrives first',
    policy: alone,
    run: `us 0 .
          ${fails}
          ap 61 .[w,s=61]
          eu 62 x[w,s=61,code=503]`,
    statuses: 'up@0',
  },
  {
    title: 'a failure that a witness confirms later makes the monitor down then',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 70 x[w,s=65,code=500]`,
    statuses: 'up@0 down@70',
  },
  {
    title: 'a target that witnesses reach is not down',
    policy: alone,
    run: `us 0 .  94..304/30 x[d]
          ${fails}
          eu 62 .[w]  95..275/30 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 witness@94 witness@124 witness@154 witness@184 witness@214 witness@244 witness@274 witness@304',
  },
  {
    title: 'the answer of a witness expires after an interval, the timeout and 10 s',
    policy: alone,
    run: `us 0 .  94 x[d] 124 x[d] 154 x[d]
          ${fails}
          eu 62 .[w]`,
    statuses: 'up@0 down@154',
  },
  {
    title: 'a witness that sees the outage later confirms it',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w]
          ap 96 x[w,s=95,code=503]`,
    statuses: 'up@0 down@96',
  },
  {
    title: 'an unknown result of a witness proves nothing',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          uw 63 ?[w]`,
    statuses: 'up@0 down@94',
  },
  {
    title: 'a witness that gets an error status below 500 has reached the target',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 61 x[w,code=403]`,
    statuses: 'up@0',
  },
  {
    title: 'a witness never votes: without doubted failures its checks change nothing',
    policy: alone,
    run: `us 0 .  60 x 61 x[s=60,a=2] 63 .
          eu 10 x[w,code=503] 61 x[w,code=503] 70 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60',
    regions: 'us=ok',
  },
  {
    title: 'a monitor that forbids witnesses has none',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w] 70 x[w,code=503]`,
    statuses: 'up@0 down@94',
  },
  {
    title: 'a check by a witness from before it was asked changes nothing',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w,s=59]`,
    statuses: 'up@0 down@94',
  },
  {
    title: 'a witness that was not asked, because another region votes, changes nothing',
    policy: { regions: ['us-east', 'eu-west'], witness: true },
    run: `us 0 .
          ${fails}
          eu 0 .  60.5 .
          ap 70 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60',
  },
  {
    title: 'a probe that is sure at the deciding attempt settles the doubt immediately',
    policy: alone,
    run: 'us 0 .  60 x[d] 61 x[d,s=60,a=2] 64 x[s=60,a=3]',
    statuses: 'up@0 down@64',
  },
  {
    title: 'a probe that is sure later settles the doubt then',
    policy: alone,
    run: `us 0 .  94 x
          ${fails}
          eu 62 .[w]`,
    statuses: 'up@0 down@94',
  },
  {
    title: 'failures without a doubt make the monitor down, whatever a witness gets',
    policy: alone,
    run: `us 0 .  60 x 61 x[s=60,a=2] 64 x[s=60,a=3]
          eu 61 .[w]`,
    statuses: 'up@0 down@64',
  },
  {
    title: 'a doubt that begins during an outage neither ends it nor delays the recovery',
    policy: alone,
    run: 'us 0 .  60 x 61 x[s=60,a=2] 64 x[s=60,a=3]  120 x[d] 180 x[d] 240 . 245 .',
    statuses: 'up@0 down@64 up@245',
  },
  {
    title: 'a doubted region does not make the monitor degraded while the others see the target well',
    run: `us 0 .  94..304/30 x[d]
          ${fails}
          eu 0 . 60.5 . 90..330/60 .
          ap 0 . 60.6 . 91..331/60 .`,
    statuses: 'up@0',
  },
  {
    title: 'a doubted region counts when its probe is sure again',
    run: `us 0 .  94 x[d] 154 x
          ${fails}
          eu 0 . 60.5 . 90..330/60 .
          ap 0 . 60.6 . 91..331/60 .`,
    statuses: 'up@0 degraded@154',
  },
  {
    title: 'a second region of the monitor that is sure confirms',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x 61.5 x[s=60.5,a=2] 64.5 x[s=60.5,a=3]
          ap 0 . 60.6 .`,
    statuses: 'up@0 down@64.5',
  },
  {
    title: 'two regions in doubt confirm each other',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3]`,
    statuses: 'up@0 down@64.5',
  },
  {
    title: 'two of three regions in doubt count from the next check while the third sees the target well',
    run: `us 0 . 94 x[d] 124 x[d]
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3] 94.5 x[d] 124.5 x[d]
          ap 0 . 60.6 . 120 .`,
    statuses: 'up@0 down@94.5',
  },
  {
    title: 'a region that has just begun to fail in doubt makes no majority before its own next check',
    run: `us 0 . 94 x[d] 124 x[d] 154 x[d] 184 x[d] 214 x[d]
          ${fails}
          eu 0 . 60.5 . 120.5 . 180.5 x[d] 181.5 x[d,s=180.5,a=2] 184.5 x[d,s=180.5,a=3] 214.5 .
          ap 0 . 60.6 . 120.6 . 180.6 .`,
    statuses: 'up@0',
  },
  {
    title:
      'two of four regions with a later failure make no majority while another one has just begun to fail in doubt',
    run: `us 0 . 94 x[d]
          ${fails}
          eu 0 . 70 x[d] 71 x[d,s=70,a=2] 74 x[d,s=70,a=3] 104.5 x[d]
          ap 0 . 60.6 . 100 .
          uw 0 . 80 x[d] 81 x[d,s=80,a=2] 84 x[d,s=80,a=3] 114 . 119 .`,
    statuses: 'up@0',
  },
  {
    title: 'a region in doubt whose checks became unknown makes no majority',
    run: `us 0 . 60 . 120 . 180 x[d] 181 x[d,s=180,a=2] 184 x[d,s=180,a=3] 214 x[d]
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3] 94.5 x[d] 120.5 ? 180.5 ?
          ap 0 . 60.6 . 120.6 . 180.6 .`,
    statuses: 'up@0',
  },
  {
    title: 'two of three regions in doubt that recover in the next check do not make the monitor down',
    run: `us 0 . 94 . 99 .
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3] 94.5 . 99.5 .
          ap 0 . 60.6 . 120 .`,
    statuses: 'up@0',
  },
  {
    title: 'two of four regions in doubt do not count while the others see the target well: half is not a majority',
    run: `us 0 . 94 x[d] 124 x[d]
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3] 94.5 x[d] 124.5 x[d]
          ap 0 . 60.6 . 120 .
          uw 0 . 60.7 . 121 .`,
    statuses: 'up@0',
  },
  {
    title: 'three regions in doubt confirm each other when none of them can see the target well',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3]
          ap 0 . 60.6 x[d] 61.6 x[d,s=60.6,a=2] 64.6 x[d,s=60.6,a=3]`,
    statuses: 'up@0 down@64.5',
  },
  {
    title: 'one of two regions decides like a single region while the other is silent',
    policy: { regions: ['us-east', 'eu-west'], witness: true },
    run: `us 0 .  300 x[d] 301 x[d,s=300,a=2] 304 x[d,s=300,a=3] 330 x[d]
          eu 0 .
          ap 302 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@300 witness@300',
    regions: 'us=failing eu=ok',
  },
  {
    title: 'a new monitor has no status while its first failures are doubted',
    policy: alone,
    run: 'us 60 x[d] 61 x[d,s=60,a=2] 64 x[d,s=60,a=3] 94 .',
    statuses: 'up@94',
  },
  {
    title: 'the answer of a witness from another target does not count',
    policy: alone,
    run: `us 0 .  66 x[d,c=2] 67 x[d,c=2,s=66,a=2] 70 x[d,c=2,s=66,a=3]
          policy 65 c=2
          ${fails}
          eu 68 x[w,code=503]  69 .[w,c=2]`,
    statuses: 'up@0',
  },
  {
    title: 'a region in doubt decides like a new one after the target has changed',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 x[d,c=2] 95 x[d,c=2,s=94,a=2] 98 .[c=2,s=94,a=3]
          policy 65 c=2
          ${fails}`,
    statuses: 'up@0',
    regions: 'us=ok',
  },
  {
    title: 'without re-checks the first doubted failure waits as well',
    policy: { ...alone, retryCount: 0 },
    run: `us 0 .  60 x[d] 90 x[d]
          eu 60.5 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 witness@90',
  },
  {
    title: 'a witness is asked in each slot also while another probe of the region contradicts the failures',
    policy: alone,
    run: `us 0 .  60.5 .[o,p=p2]  120 x[d] 121 x[d,s=120,a=2] 121.5 x[o,p=p2,s=120] 124 x[d,s=120,a=3]
          ${fails}
          eu 60.6 .[w]  120.6 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 disagreement:us@120 witness@120 witness@124',
  },
  {
    title: 'once no other probe contradicts it, a doubted region without a witness decides alone',
    policy: alone,
    run: `us 0 .  60.5 .[o,p=p2]  120 x[d] 121 x[d,s=120,a=2] 121.5 x[o,p=p2,s=120] 124 x[d,s=120,a=3]
          ${fails}`,
    statuses: 'up@0 down@124',
  },
  {
    title: 'a witness is asked again when long attempts make the region failing, so that it holds until the next check',
    policy: { ...alone, intervalMs: 30_000 },
    run: `us 0 .  40 x[d,s=30] 51 x[d,s=30,a=2] 64 x[d,s=30,a=3]  100 x[d,s=90]
          eu 40.5 .[w]  64.5 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@40 witness@40 witness@64 witness@100',
  },
  {
    title: 'the answer of a witness that was asked with the previous check counts',
    policy: alone,
    run: `us 0 .  91 x[d] 94 x[d]  154 x[d]
          ${fails}
          eu 62 .[w]  95 .[w,s=92]`,
    statuses: 'up@0',
  },
])
