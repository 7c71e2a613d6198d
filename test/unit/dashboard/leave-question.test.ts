import t from 'tap'
import { holdPage, mayLeave } from '../../../control-plane/dashboard/browser/leave-question.ts'

/** What the questions use of a browser. Each event comes from a link to another page. */
class FakeWindow extends EventTarget {
  asked = 0
  question = ''
  answer = false
  pushed: string[] = []
  closest = () => ({ getAttribute: (name: string) => (name === 'href' ? '/incidents' : null) })
}

/** Dispatches an event, and returns whether it was refused. */
const isRefused = (browser: FakeWindow, type: string) =>
  !browser.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), { button: 0 }))

function openFakeWindow(): FakeWindow {
  const browser = new FakeWindow()
  Object.assign(globalThis, {
    addEventListener: browser.addEventListener.bind(browser),
    removeEventListener: browser.removeEventListener.bind(browser),
    location: { href: 'http://localhost/settings/keys' },
    history: { pushState: (_state: unknown, _title: string, address: string) => browser.pushed.push(address) },
    confirm: (question: string) => {
      browser.asked += 1
      browser.question = question
      return browser.answer
    },
  })
  return browser
}

t.test('A page that is held is left only after a question: by links, by going back, and by the palette', async t => {
  const browser = openFakeWindow()
  t.ok(mayLeave())
  t.equal(browser.asked, 0, 'nothing is asked when all is saved')
  const releases = [holdPage(), holdPage()]
  t.notOk(mayLeave())
  t.ok(isRefused(browser, 'click'))
  t.ok(isRefused(browser, 'popstate'))
  t.same(browser.pushed, ['http://localhost/settings/keys'], 'the address stays')
  t.equal(browser.asked, 3, 'one question for all forms of the page')
  t.ok(isRefused(browser, 'beforeunload'))
  releases[0]!()
  t.notOk(mayLeave(), 'the other form still has changes')
  releases[1]!()
  t.ok(mayLeave())
  for (const type of ['click', 'popstate', 'beforeunload']) t.notOk(isRefused(browser, type), type)
  t.equal(browser.asked, 4)
})

t.test('A form is closed only after a question, which does not answer the question about the page', async t => {
  const browser = openFakeWindow()
  t.ok(mayLeave('form'))
  const release = holdPage()
  t.notOk(mayLeave('form'))
  t.match(browser.question, /^Close this form\?/)
  browser.answer = true
  t.ok(mayLeave('form'))
  t.ok(isRefused(browser, 'beforeunload'))
  release()
})

t.test('A person who agreed to leave is not asked again by the browser', async t => {
  const browser = openFakeWindow()
  const release = holdPage()
  browser.answer = true
  t.ok(mayLeave())
  t.notOk(isRefused(browser, 'beforeunload'))
  release()
})
