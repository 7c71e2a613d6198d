import t from 'tap'
import { CHANNEL_TYPES, getChannelKind } from '../../../../control-plane/alerting/channels/registry.ts'
import { ALL_EVENTS, CONFIGS, CONTEXT, DIGEST, sampleEnvelope } from '../../../support/channel-events.ts'
import { compareGolden } from '../../../support/golden.ts'

/**
 * What each kind makes of each event, reviewed by eye. After a change on purpose: `PICKET_WRITE_FIXTURES=1 node --import
 * tsx test/unit/alerting/channels/golden.test.ts`, and look at what git shows.
 */
for (const type of CHANNEL_TYPES) {
  const kind = getChannelKind(type)
  const config = CONFIGS[type] ?? {}
  t.test(`${type} says each event as it was reviewed`, async t => {
    for (const name of ALL_EVENTS) compareGolden(t, type, name, kind.render(sampleEnvelope(name), config, CONTEXT))
  })
  if (!kind.renderDigest) continue
  const { renderDigest } = kind
  t.test(`${type} says a reminder and a digest as they were reviewed`, async t => {
    const context = { ...CONTEXT, reminder: { number: 3, downFor: '1 hour 30 minutes' } }
    compareGolden(t, type, 'reminder', kind.render(sampleEnvelope('monitor.down'), config, context))
    compareGolden(t, type, 'digest', renderDigest(DIGEST, config, CONTEXT))
  })
}
