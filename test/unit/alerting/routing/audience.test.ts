import fc from 'fast-check'
import t from 'tap'
import { cutAudiencePart, type LoadedAudience } from '../../../../control-plane/alerting/routing/recipients/audience.ts'

const id = (n: number) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`
const MAX_ROWS = 3

/** The database's result: the next entries of each list after a channel, sorted. */
function read(all: LoadedAudience, after: string | null): LoadedAudience {
  const next = <One extends { alertChannelId: string }>(list: One[]) =>
    list.filter(one => after === null || one.alertChannelId > after).slice(0, MAX_ROWS)
  const { rules, subscriptions, overrides, people } = all
  return { rules: next(rules), subscriptions: next(subscriptions), overrides: next(overrides), people }
}

t.test('The parts of an audience contain each recipient once, with all entries of a channel in one part', async t => {
  const ids = fc.uniqueArray(fc.nat(20), { maxLength: 12 }).map(list => list.sort((a, b) => a - b).map(id))
  fc.assert(
    fc.property(ids, ids, ids, ids, (rules, subscriptions, overrides, people) => {
      const all = {
        rules: rules.map(alertChannelId => ({ alertChannelId })),
        subscriptions: subscriptions.map(alertChannelId => ({ alertChannelId })),
        overrides: overrides.map(alertChannelId => ({ alertChannelId })),
        people: people.map(channelId => ({ channelId })),
      } as unknown as LoadedAudience
      const seen = { rules: [], subscriptions: [], overrides: [], people: [] } as unknown as LoadedAudience
      let after: string | null = null
      for (let parts = 0; ; parts++) {
        t.ok(parts < 20)
        const part = cutAudiencePart(read(all, after), after, MAX_ROWS)
        for (const list of ['rules', 'subscriptions', 'overrides', 'people'] as const) {
          seen[list].push(...(part[list] as never[]))
        }
        if (part.until === null) break
        after = part.until
      }
      t.same(seen, all)
    }),
    { numRuns: 200 },
  )
})
