import t from 'tap'
import type { OperationResponse } from '../../../control-plane/dashboard/core/operations.ts'
import { FULL } from '../../support/dashboard-scenes.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'

type Job = OperationResponse<'readImport'>['data']

const PLANNED = FULL.answers!.readImport!.data

/** The page of an import as the server renders it, also after a reload. */
const show = (changes: Partial<Job>) => {
  const answers = { ...FULL.answers, readImport: { data: { ...PLANNED, ...changes } } }
  const { html } = renderScreen('/settings/import/i1', { ...FULL, answers })
  return { html, text: toText(html) }
}

t.test('An import that is running shows its phase and its steps, and no plan', async t => {
  const rows: [Job['status'], done: number, total: number, words: string, steps: RegExp | null][] = [
    ['uploading', 0, 0, 'The file is being uploaded', null],
    ['reading', 0, 0, 'The file is being read', null],
    ['planning', 12, 4_000, 'The plan is being made', /12 of 4,000 steps\. You can leave this page/],
    ['applying', 3_999, 4_000, 'The file is being imported', /3,999 of 4,000 steps\. You can leave this page/],
  ]
  for (const [status, done, total, words, steps] of rows) {
    const { html, text } = show({ status, can_apply: false, progress: { done, total } })
    t.match(text, words, status)
    if (steps) t.match(text, steps, status)
    else t.notMatch(text, /\d steps/, status)
    t.match(html, steps ? `<progress max="${total}" value="${done}"` : '<progress aria-label', status)
    t.notMatch(text, /Apply \d|Old shop/, `${status}: nothing can be applied twice`)
  }
  const { data } = FULL.answers!.listImports!
  const running = { ...data[0]!, status: 'applying' as const, progress: { done: 5, total: 8 } }
  const answers = { ...FULL.answers, listImports: { ...FULL.answers!.listImports!, data: [running] } }
  t.match(toText(renderScreen('/settings/import', { ...FULL, answers }).html), /being imported, 5 of 8 steps/)
})

t.test('An import that failed says why in the words of the API, and names each fault of the file', async t => {
  const message = 'the process that worked on this import has ended; nothing was changed'
  const failed = show({ status: 'failed', summary: null, error: { status: 503, code: 'unavailable', message } })
  t.match(failed.text, /Failed, nothing was changed/)
  t.match(failed.text, `${message}.`)
  t.notMatch(failed.html, '<progress')
  const details = ['monitors[0].url is required (Shop)', 'monitors[3].interval_seconds must be an integer (Mail)'].map(
    (text, i) => ({ path: `monitors[${i}]`, message: text }),
  )
  const refused = show({ status: 'failed', error: { status: 400, code: 'validation_error', message, details } })
  for (const detail of details) t.match(refused.text, detail.message)
})

t.test('A plan that deletes has a row for each deletion, and asks for their number when there are several', async t => {
  const { html, text } = show({})
  t.match(html, '<li class="delete">')
  t.match(text, /Delete Old shop/)
  t.match(text, /2 records will be deleted\. Type 2 to confirm/)
  const button = (page: string) => page.match(/<button type="submit"[^>]*>Apply[^<]*/)?.[0]
  t.match(button(html), / disabled[ >]/)
  const one = show({ summary: { ...PLANNED.summary!, delete: 1 } })
  t.notMatch(one.text, 'to confirm')
  t.notMatch(button(one.html), / disabled[ >]/)
})
