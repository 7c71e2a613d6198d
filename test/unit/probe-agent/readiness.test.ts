import t from 'tap'
import { computeReadiness, type ReadinessConditions } from '../../../probe-agent/health/readiness.ts'

const HEALTHY: ReadinessConditions = { fleet: 'ok', nats: 'ok', spool: 'ok', isDraining: false }
const NO_LINK = 'not connected to the control plane'
const STOPPING = 'the probe is stopping and handing over its monitors'

t.test(
  'A probe is ready while it is connected, delivers its results and is not stopping; else it reports the problems',
  async t => {
    const rows: [Partial<ReadinessConditions>, string[]][] = [
      [{}, []],
      [{ nats: 'away' }, []],
      [{ nats: 'refusing' }, []],
      [{ spool: 'refusing' }, []],
      [{ fleet: 'away' }, [NO_LINK]],
      [{ isDraining: true }, [STOPPING]],
      [
        { nats: 'away', spool: 'refusing' },
        ['results cannot be published or spooled: NATS is unreachable, and the disk rejects writes to the spool'],
      ],
      [
        { nats: 'refusing', spool: 'refusing' },
        [
          'results cannot be published or spooled: JetStream does not store them, and the disk rejects writes to the spool',
        ],
      ],
      [
        { fleet: 'away', nats: 'away', spool: 'away' },
        [NO_LINK, 'results cannot be published or spooled: NATS is unreachable, and the spool is not open yet'],
      ],
      [{ fleet: 'away', isDraining: true }, [STOPPING, NO_LINK]],
    ]
    for (const [change, problems] of rows) {
      const { isDraining: _, ...dependencies } = { ...HEALTHY, ...change }
      const status = problems.length === 0 ? 'ready' : 'not ready'
      t.same(computeReadiness({ ...HEALTHY, ...change }), { status, dependencies, problems }, JSON.stringify(change))
    }
  },
)
