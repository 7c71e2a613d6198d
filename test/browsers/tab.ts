import { waitFor } from '../support/wait.ts'
import type { Driver } from './driver.ts'

/** The keys of the WebDriver specification that have no character. */
const KEYS = { Tab: '\uE004', Enter: '\uE007', Escape: '\uE00C' }

/** A tab as a person uses it: real clicks and keys on what is visible. */
export type Tab = {
  /** navigates after `expectNoFaults` */
  open(url: string): Promise<void>
  /** fails when the page has thrown an error or violated its policy */
  expectNoFaults(): Promise<void>
  read<T>(expression: string): Promise<T>
  /** clicks the first visible, enabled element of the selector that contains the text */
  click(selector: string, text?: string): Promise<void>
  /** replaces the content of the field with this label */
  fill(label: string, text: string): Promise<void>
  press(key: keyof typeof KEYS): Promise<void>
  /** waits until the page shows a text that matches */
  waitForText(pattern: RegExp): Promise<void>
  waitForPath(path: string): Promise<void>
}

/** Looks for an element in the page: the center of the first that matches, `[x, y]`, or null while it moves or is covered. */
const FIND = `async (selector, text, isField) => {
  const nameOf = element => (isField ? [...(element.labels ?? [])].map(label => label.textContent).join(' ') : element.textContent)
  const isMatch = element => {
    const name = nameOf(element).replace(/\\s+/g, ' ').trim()
    return element.checkVisibility() && !element.disabled && (isField ? name.startsWith(text) : name.includes(text))
  }
  const found = [...document.querySelectorAll(selector)].find(isMatch)
  if (!found) return null
  found.scrollIntoView({ block: 'center', behavior: 'instant' })
  const pointOf = () => {
    const { left, top, width, height } = found.getBoundingClientRect()
    return [Math.round(left + width / 2), Math.round(top + height / 2)]
  }
  const before = pointOf()
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  const point = pointOf()
  if (point.join() !== before.join()) return null
  const hit = document.elementFromPoint(...point)
  return hit && (found.contains(hit) || hit.contains(found)) ? point : null
}`

/** Keeps errors and violations of the policy from now on, and the violations since the start of the page. */
const WATCH = `(() => {
  window.faults = []
  const keep = text => void window.faults.push(text)
  addEventListener('error', event => keep('error: ' + event.message))
  addEventListener('unhandledrejection', event => keep('error: ' + event.reason))
  addEventListener('securitypolicyviolation', event => keep('policy: ' + event.violatedDirective))
  if (!window.ReportingObserver) return
  const types = ['csp-violation']
  new ReportingObserver(found => found.forEach(({ body }) => keep('policy: ' + body.effectiveDirective)), { types, buffered: true }).observe()
})()`

export function createTab(driver: Driver): Tab {
  const read = async <T>(expression: string): Promise<T> =>
    JSON.parse(await driver.evaluate(`Promise.resolve(${expression}).then(value => JSON.stringify(value ?? null))`))
  const expectNoFaults = async () => {
    const faults = await read<string[]>('window.faults ?? []')
    if (faults.length > 0) throw new Error(`the page reported ${faults.join('; ')}`)
  }
  const type = (text: string) => {
    const actions = [...text].flatMap(value => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    return driver.perform([{ type: 'key', id: 'keyboard', actions }])
  }
  const clickAt = async (selector: string, text: string, isField: boolean) => {
    const args = [selector, text, isField].map(one => JSON.stringify(one)).join(', ')
    const find = () => read<[number, number] | null>(`(${FIND})(${args})`)
    const [x, y] = await waitFor(find, { label: `${selector} "${text}"` })
    const pointer = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' } }
    const actions = [
      { type: 'pointerMove', x, y, duration: 0, origin: 'viewport' },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await driver.perform([{ ...pointer, actions }])
  }
  return {
    read,
    async open(url) {
      await expectNoFaults()
      await driver.navigate(url)
      await read(WATCH)
    },
    expectNoFaults,
    click: (selector, text = '') => clickAt(selector, text, false),
    async fill(label, text) {
      await clickAt('input, textarea', label, true)
      await read('document.activeElement.select()')
      await type(text)
    },
    press: key => type(KEYS[key]),
    async waitForText(pattern) {
      const shows = () => read<boolean>(`${pattern}.test(document.body.innerText.replace(/\\s+/g, ' '))`)
      await waitFor(shows, { label: `the text ${pattern}` })
    },
    async waitForPath(path) {
      const isThere = () => read<boolean>(`location.pathname + location.search === ${JSON.stringify(path)}`)
      await waitFor(isThere, { label: path })
    },
  }
}
