import t from 'tap'
import { decryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { buildConfirmUrl } from '../../control-plane/alerting/channels/subscribers/subscriber-links.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { confirmSubscriber, subscribe } from '../../control-plane/pages/subscribers/actions.ts'
import { MAX_SUBSCRIBERS, MAX_UNCONFIRMED } from '../../control-plane/pages/subscribers/limits.ts'
import { findSubscriber } from '../../control-plane/pages/subscribers/store.ts'
import { createSubscriberFixture } from '../support/subscribers.ts'

/** A page of which visitors subscribe webhooks by number. */
async function createPage() {
  const { db, tools, page } = await createSubscriberFixture(t)
  const find = async (condition: string) => {
    const sql = `SELECT id FROM page_subscribers WHERE page_id = ? AND kind = 'webhook' AND ${condition}
      ORDER BY asked_at, id`
    return (await query<{ id: string }>(db, sql, [page.id])).map(({ id }) => id)
  }
  return {
    db,
    find,
    ask: (i: number) => {
      const address = { kind: 'webhook' as const, text: `https://hooks.example.com/${i}` }
      return subscribe(tools, page, { address, componentIds: null }, new Date())
    },
    /** follows the link of a subscriber */
    confirm: async (id: string) => {
      const { key } = decryptConfig((await findSubscriber(db, page.id, id))!, tools.secrets) as { key: string }
      const url = new URL(
        buildConfirmUrl('http://picket.test', { id, key }, new Date(Date.now() + 60_000).toISOString()),
      )
      const link = Object.fromEntries(url.searchParams) as { id: string; until: string; token: string }
      return confirmSubscriber(tools, page.id, link, new Date())
    },
    /** copies of an unconfirmed subscriber, which asked before it */
    copy: (id: string, count: number) =>
      execute(
        db,
        `WITH copies AS (
           SELECT s.*, i, uuidv7() AS new_channel_id FROM page_subscribers s, generate_series(1, :count) AS i WHERE id = :id
         ), channels AS (
           INSERT INTO alert_channels (id, project_id, page_id, name, type, config, is_default, created_at, updated_at)
           SELECT new_channel_id, project_id, page_id, 'Subscribers', 'page_webhook', '', false, now(), now() FROM copies
         )
         INSERT INTO page_subscribers (id, project_id, page_id, channel_id, kind, address_hash, config, signing_secret,
           asked_at, created_at, updated_at)
         SELECT uuidv7(), project_id, page_id, new_channel_id, kind, sha256(i::text::bytea), config, signing_secret,
           asked_at - interval '1 hour' + i * interval '1 second', created_at, updated_at FROM copies`,
        { id, count },
      ),
  }
}

t.test('A page has fifty confirmed webhooks, and then refuses every form and confirmation', async t => {
  const { db, ask, confirm, copy, find } = await createPage()
  await ask(0)
  await ask(1)
  const [first, second] = await find('true')
  await copy(first!, MAX_SUBSCRIBERS.webhook - 1)
  await execute(db, `UPDATE page_subscribers SET confirmed_at = now() WHERE id <> ALL (?::uuid[])`, [[first!, second!]])
  t.equal(await ask(2), 'requested', 'one more can subscribe')
  t.match(await confirm(first!), { id: first })
  t.equal(await confirm(second!), 'full')
  t.match(await confirm(first!), { id: first }, 'a repeated confirmation changes nothing')
  t.equal(await ask(3), 'full')
  t.equal(await ask(0), 'full', 'also for a known address')
})

t.test('Many addresses without a confirmation do not prevent others from subscribing', async t => {
  const { ask, confirm, copy, find } = await createPage()
  await ask(0)
  const [own] = await find('true')
  await copy(own!, MAX_UNCONFIRMED.webhook - 1)
  const [oldest, next] = await find('true')
  t.equal(await ask(1), 'requested')
  const left = await find('true')
  t.equal(left.length, MAX_UNCONFIRMED.webhook)
  t.same([left.includes(oldest!), left[0]], [false, next], 'the oldest one was replaced')
  t.match(await confirm(own!), { id: own })
})
