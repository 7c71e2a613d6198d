import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { sanitizeProjectCss } from '../../control-plane/pages/core/custom-css/css-actions.ts'
import { shareApi } from '../support/api-server.ts'
import { countTurns } from '../support/turns-during.ts'

const PROJECT = 'project'

/** CSS of the maximum length; each takes 100 to 200 ms to sanitize. */
const LONG: Record<string, string> = {
  rules: 'a{}'.repeat(21_000),
  selectors: `${'a,'.repeat(32_000)}b{color:red}`,
  declarations: `a{${'color:red;'.repeat(6_500)}}`,
}

t.test('CSS of 64 KiB is sanitized in a thread, and once while it is unchanged', async t => {
  for (const [name, css] of Object.entries(LONG)) {
    const first = await countTurns(() => sanitizeProjectCss(PROJECT, css))
    t.match(first.answer, { css: /\.page / }, name)
    t.ok(first.turns > 10, `${name}: the event loop ran ${first.turns} times`)
    t.equal((await countTurns(() => sanitizeProjectCss(PROJECT, `${css}`))).turns, 0, 'the result is cached')
  }
})

t.test('PUT /status-pages/{id} 400 custom_css has the same message for long CSS as for short CSS', async t => {
  const api = await shareApi()
  const { body } = await api.call('POST', '/status-pages', { body: { name: 'Shop', slug: 'long-styles' } })
  const put = (custom_css: string) => api.call('PUT', `/status-pages/${body.data.id}`, { body: { custom_css } })
  t.match(await put(LONG.rules!), { status: 200 })
  const message = 'custom_css must not load anything: url() is not allowed (line 2)'
  const wrong = 'b{background:url(https://example.com/)}'
  for (const css of [`a{}\n${wrong}`, `${'a{}'.repeat(10_000)}\n${wrong}`]) {
    t.match(await put(css), { status: 400, body: { error: { details: [{ path: 'custom_css', message }] } } })
  }
})

t.test('A page is shown without its CSS while too much CSS of its project is waiting', async t => {
  const api = await shareApi()
  const { id } = (await api.call('POST', '/status-pages', { body: { name: 'Shop', slug: 'many-styles' } })).body.data
  await api.call('PUT', `/status-pages/${id}`, { body: { is_published: true } })
  const style = (n: number) => `b${n}{color:rebeccapurple}${'a{}'.repeat(4_000)}`
  await execute(api.db, 'UPDATE status_pages SET custom_css = ? WHERE id = ?', [style(0), id])
  const [page] = await query<{ projectId: string }>(
    api.db,
    'SELECT project_id AS "projectId" FROM status_pages WHERE id = ?',
    [id],
  )
  let [count, refused, isShown] = [0, 0, false]
  const keepWaiting = async () => {
    while (!isShown) {
      const isDone = await sanitizeProjectCss(page!.projectId, style(++count)).then(
        () => true,
        () => false,
      )
      // the place of one that is done is taken again at once
      if (isDone) continue
      refused++
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const others = Array.from({ length: 60 }, keepWaiting)
  const shown = await fetch(`${api.origin}/status/many-styles`)
  t.equal(shown.status, 200)
  const text = await shown.text()
  isShown = true
  await Promise.all(others)
  t.match(text, 'Shop')
  t.notMatch(text, 'rebeccapurple')
  t.ok(refused > 0)
})
