import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { notifySubscribers } from '../../control-plane/pages/subscribers/notice-actions.ts'
import { openIncident } from '../../control-plane/verdict/incidents/api/actions.ts'
import { createSubscriberFixture, PUBLIC_URL } from '../support/subscribers.ts'
import { waitFor } from '../support/wait.ts'

t.test('A notice is skipped when its subscriber follows other components by the time it is sent', async t => {
  const { db, tenant, smtp, addComponent, addSubscribers } = await createSubscriberFixture(t)
  const [shop, blog] = [await addComponent('Shop'), await addComponent('Blog')]
  const [id] = await addSubscribers(1, [shop.componentId])
  const open = (title: string, monitorId: string) =>
    openIncident(
      { db, publicUrl: PUBLIC_URL, limits: DEFAULT_LIMITS },
      tenant,
      { title, monitor_ids: [monitorId], message: 'Words.' },
      new Date(),
    )
  /** The deliveries to the subscriber, when none is pending. */
  const settled = (count: number) =>
    waitFor(async () => {
      const rows = await query<{ status: string; attempts: object[] }>(
        db,
        'SELECT status, attempts FROM deliveries WHERE subscriber_id = ? ORDER BY seq',
        [id!],
      )
      return rows.length === count && rows.every(({ status }) => status !== 'pending') ? rows : null
    })
  await open('Of the shop', shop.monitorId)
  // in one transaction, so that the notice cannot be sent before the choice changes
  await db.transaction(async tx => {
    await notifySubscribers(tx, PUBLIC_URL, new Date())
    await execute(tx, 'UPDATE page_subscribers SET component_ids = ARRAY[:chosen::uuid] WHERE id = :id', {
      chosen: blog.componentId,
      id: id!,
    })
  })
  const [skipped] = await settled(1)
  t.match(skipped, { status: 'skipped', attempts: [{ error: /no longer follows the affected components/ }] })
  await open('Of the blog', blog.monitorId)
  await notifySubscribers(db, PUBLIC_URL, new Date())
  t.match((await settled(2))[1], { status: 'delivered' }, 'what follows it is sent')
  t.equal(smtp.mails.length, 1)
})
