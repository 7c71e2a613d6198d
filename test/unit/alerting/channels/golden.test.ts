import t from 'tap'
import { CHANNEL_TYPES, getChannelKind } from '../../../../control-plane/alerting/channels/registry.ts'
import { ALL_EVENTS, CONFIGS, CONTEXT, DIGEST, sampleEnvelope } from '../../../support/channel-events.ts'
import { compareGolden } from '../../../support/golden.ts'

/**
 * Compares the message of each kind for each event with a reviewed file. After an intended change run `PICKET_WRITE_FIXTURES=1
 * npm test -- test/unit/alerting/channels` and review the diff.
 */
for (const type of CHANNEL_TYPES) {
  const kind = getChannelKind(type)
  const config = CONFIGS[type] ?? {}
  t.test(`${type} renders each event as reviewed`, async t => {
    for (const name of ALL_EVENTS) compareGolden(t, type, name, kind.render(sampleEnvelope(name), config, CONTEXT))
  })
  if (!kind.renderDigest) continue
  const { renderDigest } = kind
  t.test(`${type} renders a reminder and a digest as reviewed`, async t => {
    const context = { ...CONTEXT, reminder: { number: 3, downFor: '1 hour 30 minutes' } }
    compareGolden(t, type, 'reminder', kind.render(sampleEnvelope('monitor.down'), config, context))
    compareGolden(t, type, 'digest', renderDigest(DIGEST, config, CONTEXT))
  })
}
