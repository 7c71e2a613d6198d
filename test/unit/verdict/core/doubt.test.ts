import { testRows } from './runs.ts'

const alone = { regions: ['us-east'], witness: true }
const fails = 'us 60 x[d] 61 x[d,s=60,a=2] 64 x[d,s=60,a=3]'

// decision 197: failures that many hosts of a probe begin to have at once wait for a second region.
testRows([
  {
    says: 'a doubted region that is well again in its next check was never down',
    policy: alone,
    run: `us 0 .  94 . 99 .
          ${fails}`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60',
    regions: 'us=ok',
  },
  {
    says: 'one success ends what was doubted: failures after it, doubted or not, are counted again',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 . 99 x[s=94,a=2]  124 x[d] 125 x[d,s=124,a=2]  154 ~ 155 x[s=154,a=2]
          ${fails}`,
    statuses: 'up@0',
    regions: 'us=ok',
  },
  {
    says: 'without a witness a doubted region decides alone in its next check',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 x[d]  120 x[d]
          ${fails}`,
    statuses: 'up@0 down@94',
    asks: 'first_failure:us@60',
  },
  {
    says: 'a check soon after the first failure, as by a person, decides nothing yet',
    policy: { ...alone, witness: false },
    run: `us 0 .  70 x[d]  95 x[d]
          ${fails}`,
    statuses: 'up@0 down@95',
  },
  {
    says: 'a witness that does not answer holds up nothing after that',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}`,
    statuses: 'up@0 down@94',
    asks: 'first_failure:us@60 witness@60',
  },
  {
    says: 'a witness that gets no answer says nothing: it may be the one that cannot reach the target',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 x[w] 70 x[w,s=65]`,
    statuses: 'up@0 down@94',
  },
  {
    says: 'what one witness sees well, another one that gets no answer does not take back',
    policy: alone,
    run: `us 0 .  94 x[d] 124 x[d]
          ${fails}
          eu 62 .[w]
          ap 96 x[w,s=95]`,
    statuses: 'up@0',
  },
  {
    says: 'an error of the server that a witness sees before the re-checks have ended is down with the last of them',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 62 x[w,code=503]`,
    statuses: 'up@0 down@64',
  },
  {
    says: 'an error that one witness gets counts less than the answer of another one that was asked at the same time',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 61 x[w,s=61,code=503]
          ap 62 .[w,s=61]`,
    statuses: 'up@0',
  },
  {
    says: 'and so it does when the answer comes first',
    policy: alone,
    run: `us 0 .
          ${fails}
          ap 61 .[w,s=61]
          eu 62 x[w,s=61,code=503]`,
    statuses: 'up@0',
  },
  {
    says: 'a failure that a witness confirms later is down then',
    policy: alone,
    run: `us 0 .
          ${fails}
          eu 70 x[w,s=65,code=500]`,
    statuses: 'up@0 down@70',
  },
  {
    says: 'a target that witnesses see well is not down',
    policy: alone,
    run: `us 0 .  94..304/30 x[d]
          ${fails}
          eu 62 .[w]  95..275/30 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 witness@94 witness@124 witness@154 witness@184 witness@214 witness@244 witness@274 witness@304',
  },
  {
    says: 'what a witness saw is worth nothing after an interval, the timeout and 10 s',
    policy: alone,
    run: `us 0 .  94 x[d] 124 x[d] 154 x[d]
          ${fails}
          eu 62 .[w]`,
    statuses: 'up@0 down@154',
  },
  {
    says: 'a witness that sees the outage later confirms it',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w]
          ap 96 x[w,s=95,code=503]`,
    statuses: 'up@0 down@96',
  },
  {
    says: 'a witness that knows nothing says nothing',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          uw 63 ?[w]`,
    statuses: 'up@0 down@94',
  },
  {
    says: 'a witness that is refused by status has an answer of the target',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 61 x[w,code=403]`,
    statuses: 'up@0',
  },
  {
    says: 'a witness never votes: without doubted failures its checks change nothing',
    policy: alone,
    run: `us 0 .  60 x 61 x[s=60,a=2] 63 .
          eu 10 x[w,code=503] 61 x[w,code=503] 70 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60',
    regions: 'us=ok',
  },
  {
    says: 'a monitor that may not be checked elsewhere has no witness',
    policy: { ...alone, witness: false },
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w] 70 x[w,code=503]`,
    statuses: 'up@0 down@94',
  },
  {
    says: 'a check by a witness from before it was asked changes nothing',
    policy: alone,
    run: `us 0 .  94 x[d]
          ${fails}
          eu 62 .[w,s=59]`,
    statuses: 'up@0 down@94',
  },
  {
    says: 'a witness that was not asked, because another region votes, changes nothing',
    policy: { regions: ['us-east', 'eu-west'], witness: true },
    run: `us 0 .
          ${fails}
          eu 0 .  60.5 .
          ap 70 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60',
  },
  {
    says: 'a probe that is sure at the deciding attempt is believed at once',
    policy: alone,
    run: 'us 0 .  60 x[d] 61 x[d,s=60,a=2] 64 x[s=60,a=3]',
    statuses: 'up@0 down@64',
  },
  {
    says: 'a probe that is sure later is believed then',
    policy: alone,
    run: `us 0 .  94 x
          ${fails}
          eu 62 .[w]`,
    statuses: 'up@0 down@94',
  },
  {
    says: 'failures without a doubt are down as before, whatever a witness says',
    policy: alone,
    run: `us 0 .  60 x 61 x[s=60,a=2] 64 x[s=60,a=3]
          eu 61 .[w]`,
    statuses: 'up@0 down@64',
  },
  {
    says: 'a doubt that begins in an outage ends nothing and delays no recovery',
    policy: alone,
    run: 'us 0 .  60 x 61 x[s=60,a=2] 64 x[s=60,a=3]  120 x[d] 180 x[d] 240 . 245 .',
    statuses: 'up@0 down@64 up@245',
  },
  {
    says: 'a doubted region that the others see well makes no degraded',
    run: `us 0 .  94..304/30 x[d]
          ${fails}
          eu 0 . 60.5 . 90..330/60 .
          ap 0 . 60.6 . 91..331/60 .`,
    statuses: 'up@0',
  },
  {
    says: 'and is believed when its probe is sure again',
    run: `us 0 .  94 x[d] 154 x
          ${fails}
          eu 0 . 60.5 . 90..330/60 .
          ap 0 . 60.6 . 91..331/60 .`,
    statuses: 'up@0 degraded@154',
  },
  {
    says: 'a second region of the monitor that is sure confirms',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x 61.5 x[s=60.5,a=2] 64.5 x[s=60.5,a=3]
          ap 0 . 60.6 .`,
    statuses: 'up@0 down@64.5',
  },
  {
    says: 'of two regions in doubt each confirms the other',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3]`,
    statuses: 'up@0 down@64.5',
  },
  {
    says: 'two of three regions in doubt are not believed while the third sees the target well',
    run: `us 0 . 94 x[d] 124 x[d]
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3] 94.5 x[d] 124.5 x[d]
          ap 0 . 60.6 . 120 .`,
    statuses: 'up@0',
  },
  {
    says: 'three regions in doubt confirm each other as soon as none of them may see the target well',
    run: `us 0 .
          ${fails}
          eu 0 . 60.5 x[d] 61.5 x[d,s=60.5,a=2] 64.5 x[d,s=60.5,a=3]
          ap 0 . 60.6 x[d] 61.6 x[d,s=60.6,a=2] 64.6 x[d,s=60.6,a=3]`,
    statuses: 'up@0 down@64.5',
  },
  {
    says: 'of two regions, the one whose neighbour is silent decides as a region alone',
    policy: { regions: ['us-east', 'eu-west'], witness: true },
    run: `us 0 .  300 x[d] 301 x[d,s=300,a=2] 304 x[d,s=300,a=3] 330 x[d]
          eu 0 .
          ap 302 x[w,code=503]`,
    statuses: 'up@0',
    asks: 'first_failure:us@300 witness@300',
    regions: 'us=failing eu=ok',
  },
  {
    says: 'a monitor of which nothing is known has no status while its first failures are doubted',
    policy: alone,
    run: 'us 60 x[d] 61 x[d,s=60,a=2] 64 x[d,s=60,a=3] 94 .',
    statuses: 'up@94',
  },
  {
    says: 'what a witness saw of another target counts for nothing',
    policy: alone,
    run: `us 0 .  66 x[d,c=2] 67 x[d,c=2,s=66,a=2] 70 x[d,c=2,s=66,a=3]
          policy 65 c=2
          ${fails}
          eu 68 x[w,code=503]  69 .[w,c=2]`,
    statuses: 'up@0',
  },
  {
    says: 'without re-checks the first doubted failure waits as well',
    policy: { ...alone, retryCount: 0 },
    run: `us 0 .  60 x[d] 90 x[d]
          eu 60.5 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 witness@90',
  },
  {
    says: 'a witness is asked in each slot also while another probe of the region contradicts the failures',
    policy: alone,
    run: `us 0 .  60.5 .[o,p=p2]  120 x[d] 121 x[d,s=120,a=2] 121.5 x[o,p=p2,s=120] 124 x[d,s=120,a=3]
          ${fails}
          eu 60.6 .[w]  120.6 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@60 witness@60 disagreement:us@120 witness@120 witness@124',
  },
  {
    says: 'once no other probe contradicts it, a doubted region without a witness decides alone',
    policy: alone,
    run: `us 0 .  60.5 .[o,p=p2]  120 x[d] 121 x[d,s=120,a=2] 121.5 x[o,p=p2,s=120] 124 x[d,s=120,a=3]
          ${fails}`,
    statuses: 'up@0 down@124',
  },
  {
    says: 'a witness is asked again when long attempts make the region failing, so that it holds until the next check',
    policy: { ...alone, intervalMs: 30_000 },
    run: `us 0 .  40 x[d,s=30] 51 x[d,s=30,a=2] 64 x[d,s=30,a=3]  100 x[d,s=90]
          eu 40.5 .[w]  64.5 .[w]`,
    statuses: 'up@0',
    asks: 'first_failure:us@40 witness@40 witness@64 witness@100',
  },
  {
    says: 'the answer of a witness counts that was asked for the check before',
    policy: alone,
    run: `us 0 .  91 x[d] 94 x[d]  154 x[d]
          ${fails}
          eu 62 .[w]  95 .[w,s=92]`,
    statuses: 'up@0',
  },
])
