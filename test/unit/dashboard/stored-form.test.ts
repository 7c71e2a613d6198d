import t from 'tap'
import { createExecute, type Outcome } from '../../../control-plane/dashboard/core/operations.ts'
import { sendUnlessChanged, useStoredForm } from '../../../control-plane/dashboard/parts/forms/stored/stored-form.ts'
import { createPicket } from '../../../deploy/client/index.ts'
import { runHook } from '../../support/run-hook.ts'
import type { Teardown } from '../../support/teardown.ts'

type Entry = { name: string; note: string }
const STORED: Entry = { name: 'Shop', note: '' }

/** The form of an entry. `save` does not end before `answer` is called. */
function openForm(t: Teardown) {
  let resolve: (outcome: Outcome<{ data: Entry }>) => void = () => {}
  const promise = new Promise<Outcome<{ data: Entry }>>(resolved => {
    resolve = resolved
  })
  const sent: Partial<Entry>[] = []
  const toBody = (stored: Entry, form: Entry) => {
    const changed = Object.entries(form).filter(([name, value]) => stored[name as keyof Entry] !== value)
    return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<Entry>)
  }
  const form = runHook(t, {
    props: { stored: STORED },
    hook: ({ stored }: { stored: Entry }) =>
      useStoredForm(stored, {
        toForm: one => ({ ...one }),
        toBody,
        read: async () => ({ data: { data: stored } }),
        send: body => {
          sent.push(body)
          return promise
        },
      }),
  })
  return { form, sent, answer: (data: Entry) => resolve({ data: { data } }) }
}

t.test('Text that is typed while a save runs stays, and the form does not say that it is saved', async t => {
  const { form, sent, answer } = openForm(t)
  form.current.change({ name: 'Shop 2' })
  await form.waitUntil(({ canSave }) => canSave, 'a change')
  const saving = form.current.save()
  await form.waitUntil(() => sent.length === 1, 'the request')
  form.current.change({ note: 'Typed later' })
  // the server trims names
  answer({ name: 'Shop two', note: '' })
  await saving
  await form.waitUntil(({ attempt }) => !attempt.isBusy, 'the answer')
  t.same(form.current.form, { name: 'Shop two', note: 'Typed later' })
  t.same(form.current.body, { note: 'Typed later' })
  t.ok(form.current.canSave)
  t.notOk(form.current.isSaved)
  t.notOk(form.current.isForeign)
  t.same(sent, [{ name: 'Shop 2' }])
})

t.test('After a save without further changes the form says so', async t => {
  const { form, answer } = openForm(t)
  form.current.change({ name: 'Shop 2' })
  await form.waitUntil(({ canSave }) => canSave, 'a change')
  answer({ name: 'Shop 2', note: '' })
  await form.current.save()
  await form.waitUntil(({ isSaved }) => isSaved, 'saved')
  t.equal(form.current.body, null)
})

t.test('A form in which nothing was typed follows the record; otherwise the person chooses', async t => {
  const { form } = openForm(t)
  form.update({ stored: { ...STORED, note: 'Theirs' } })
  await form.waitUntil(({ form }) => form.note === 'Theirs', 'the note of the other person')
  t.equal(form.current.body, null)
  form.current.change({ name: 'Mine' })
  await form.waitUntil(({ canSave }) => canSave, 'a change')
  form.update({ stored: { name: 'Theirs', note: 'Theirs' } })
  await form.waitUntil(({ isForeign }) => isForeign, 'the conflict')
  t.notOk(form.current.canSave)
  t.equal(form.current.form.name, 'Mine')
})

/** A record with versions: the answers of its reads, and which of its updates are 412. Returns what was sent and the outcome. */
async function saveVersions(reads: { etag: string; name: string }[], isRefused: (tag: string | null) => boolean) {
  const sent: string[] = []
  let at = 0
  const answer = (status: number, body: object, etag?: string) =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...(etag && { etag }) },
    })
  const fetch = (async (request: Request) => {
    const tag = request.headers.get('if-match')
    sent.push(`${request.method} ${tag}`)
    const { name, etag } = reads[Math.min(at, reads.length - 1)]!
    if (request.method === 'GET') {
      at++
      return answer(200, { data: { name } }, etag)
    }
    const error = { code: 'precondition_failed', message: 'the view was changed', status: 412 }
    return isRefused(tag) ? answer(412, { error }) : answer(200, { data: { name: 'Mine' } }, '"saved"')
  }) as typeof globalThis.fetch
  const execute = createExecute(createPicket({ origin: 'http://picket.test', fetch }))
  const path = { id: 'v' }
  const outcome = await sendUnlessChanged({
    isOther: ({ name }) => name !== 'Shop',
    read: () => execute('readView', { path }),
    send: headers => execute('updateView', { path, body: { name: 'Mine' }, headers }),
    refresh: async () => void sent.push('refresh'),
  })
  return { sent, outcome }
}

t.test('An update names the version that was read, so a change in between is not overwritten', async t => {
  const shop = (etag: string) => ({ etag, name: 'Shop' })
  const saved = await saveVersions([shop('"1"')], () => false)
  t.same(saved.sent, ['GET null', 'PUT "1"'])
  t.match(saved.outcome, { data: { data: { name: 'Mine' } }, etag: '"saved"' })

  const hidden = await saveVersions([shop('"1"'), shop('"2"')], tag => tag === '"1"')
  t.same(hidden.sent, ['GET null', 'PUT "1"', 'GET null', 'PUT "2"'], 'what the form does not show does not matter')
  t.match(hidden.outcome, { data: { data: { name: 'Mine' } } })

  const shown = await saveVersions([shop('"1"'), { etag: '"2"', name: 'Theirs' }], tag => tag === '"1"')
  t.same(shown.sent, ['GET null', 'PUT "1"', 'GET null', 'refresh'], 'the person chooses')
  t.match(shown.outcome, { error: { message: /another person changed this/ } })

  const always = await saveVersions([shop('"1"')], () => true)
  t.match(always.outcome, { error: { message: /another person changed this/ } })
  t.equal(always.sent.at(-1), 'refresh', 'it ends')
})
