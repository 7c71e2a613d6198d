import { waitFor } from '../../support/wait.ts'
import type { DriverTab } from './driver.ts'

/** The keys of the WebDriver specification that have no character. */
const KEYS: Record<string, string> = {
  ...{ Tab: '\uE004', Enter: '\uE007', Escape: '\uE00C', Control: '\uE009', Shift: '\uE008' },
  ...{ Delete: '\uE017', Home: '\uE011', End: '\uE010', ArrowDown: '\uE015', ArrowRight: '\uE014' },
}

/** A tab as a person uses it: real clicks and keys on what is visible. */
export type Tab = {
  /** navigates after `expectNoFaults`, once the page would not ask about changes that are not saved */
  open(url: string): Promise<void>
  /** fails when the page has thrown an error or violated its policy */
  expectNoFaults(): Promise<void>
  read<T>(expression: string): Promise<T>
  /** the text of the first element of the selector, with single spaces */
  readText(selector: string): Promise<string>
  /** clicks a visible, enabled element of the selector that contains the text: one with exactly this text, or the first */
  click(selector: string, text?: string): Promise<void>
  /** clicks the field with this label, such as a check box */
  clickField(label: string): Promise<void>
  /** puts the focus on an enabled element of the selector that contains the text */
  focus(selector: string, text: string): Promise<void>
  /** waits until an enabled element contains the text, which may be there for screen readers only */
  waitForElement(selector: string, text: string): Promise<void>
  /** replaces the content of the field with this label */
  fill(label: string, text: string): Promise<void>
  /** chooses an option by its text or value. The list of options belongs to the system, so this is the only input by script */
  choose(label: string, option: string): Promise<void>
  /** chooses a file in the first enabled input of the selector */
  upload(selector: string, path: string): Promise<void>
  /** a key, or several at once such as Control+k */
  press(keys: string): Promise<void>
  type(text: string): Promise<void>
  /** waits until the page shows a text that matches */
  waitForText(pattern: RegExp): Promise<void>
  /** waits until the page shows no text that matches */
  waitForNoText(pattern: RegExp): Promise<void>
  /** waits until an expression is true in the page */
  waitUntil(expression: string): Promise<void>
  /** a pattern: resolves to the path when it matches */
  waitForPath(path: string | RegExp): Promise<string>
  close(): Promise<void>
}

/** The elements in the page that a person can use, those with exactly this text first. */
const LIST = `(selector, text, isField) => {
  const readName = element => {
    if (!isField) return element.textContent
    return element.ariaLabel ?? [...(element.labels ?? [])].map(label => label.textContent).join(' ')
  }
  const computeRank = element => {
    const name = readName(element).replace(/\\s+/g, ' ').trim()
    if (!element.checkVisibility() || element.disabled) return 0
    return name === text ? 2 : (isField ? name.startsWith(text) : name.includes(text)) ? 1 : 0
  }
  const ranked = [...document.querySelectorAll(selector)].map(element => [element, computeRank(element)])
  return ranked.filter(([, rank]) => rank > 0).sort((a, b) => b[1] - a[1]).map(([element]) => element)
}`

/** The center of the first of these elements that does not move and is not covered, `[x, y]`, or null. */
const FIND = `async (selector, text, isField) => {
  for (const found of (${LIST})(selector, text, isField).slice(0, 5)) {
    found.scrollIntoView({ block: 'center', behavior: 'instant' })
    const readPoint = () => {
      const { left, top, width, height } = found.getClientRects()[0] ?? found.getBoundingClientRect()
      return [Math.round(left + width / 2), Math.round(top + height / 2)]
    }
    const before = readPoint()
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    const point = readPoint()
    const hit = document.elementFromPoint(...point)
    if (point.join() === before.join() && hit && (found.contains(hit) || hit.contains(found))) return point
  }
  return null
}`

/** Chooses an option of a list. False while there is none. */
const CHOOSE = `(label, text) => {
  const [list] = (${LIST})('select', label, true)
  const option = [...(list?.options ?? [])].find(one => [one.text.trim(), one.value].includes(text) && !one.disabled)
  if (!option) return false
  list.focus()
  list.value = option.value
  for (const name of ['input', 'change']) list.dispatchEvent(new Event(name, { bubbles: true }))
  return true
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

const MAY_LEAVE = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`
const FIELDS = 'input, textarea'
const formatArguments = (...args: unknown[]) => args.map(one => JSON.stringify(one)).join(', ')

export function createTab(driver: DriverTab): Tab {
  const read = async <T>(expression: string): Promise<T> =>
    JSON.parse(await driver.evaluate(`Promise.resolve(${expression}).then(value => JSON.stringify(value ?? null))`))
  const expectNoFaults = async () => {
    const faults = await read<string[]>('window.faults ?? []')
    if (faults.length > 0) throw new Error(`the page reported ${faults.join('; ')}`)
  }
  const press = (values: string[]) => {
    const down = values.map(value => ({ type: 'keyDown', value }))
    const up = values.toReversed().map(value => ({ type: 'keyUp', value }))
    return [...down, ...up]
  }
  const sendKeys = (actions: object[]) => driver.perform([{ type: 'key', id: 'keyboard', actions }])
  const type = (text: string) => sendKeys([...text].flatMap(value => press([value])))
  const clickAt = async (selector: string, text: string, isField: boolean) => {
    const find = () => read<[number, number] | null>(`(${FIND})(${formatArguments(selector, text, isField)})`)
    const [x, y] = await waitFor(find, { label: `${selector} "${text}"` })
    const pointer = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' } }
    const actions = [
      { type: 'pointerMove', x, y, duration: 0, origin: 'viewport' },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await driver.perform([{ ...pointer, actions }])
  }
  const waitUntil = async (expression: string, label = expression) =>
    void (await waitFor(() => read<boolean>(`Boolean(${expression})`), { label }))
  const buildListExpression = (selector: string, text: string) => `(${LIST})(${formatArguments(selector, text, false)})`
  const shows = (pattern: RegExp) => `${pattern}.test(document.body.innerText.replace(/\\s+/g, ' '))`
  return {
    read,
    async open(url) {
      await expectNoFaults()
      await waitUntil(MAY_LEAVE)
      await driver.navigate(url)
      await read(WATCH)
    },
    expectNoFaults,
    readText: selector =>
      read(`document.querySelector(${formatArguments(selector)})?.innerText.replace(/\\s+/g, ' ').trim()`),
    click: (selector, text = '') => clickAt(selector, text, false),
    clickField: label => clickAt(FIELDS, label, true),
    focus: (selector, text) =>
      waitUntil(
        `(element => (element?.focus(), element))(${buildListExpression(selector, text)}[0])`,
        `${selector} "${text}"`,
      ),
    waitForElement: (selector, text) =>
      waitUntil(`${buildListExpression(selector, text)}.length > 0`, `${selector} "${text}"`),
    async fill(label, text) {
      const select = async () => {
        await clickAt(FIELDS, label, true)
        return read<boolean>(
          '(element => element.matches("input, textarea") && (element.select(), true))(document.activeElement)',
        )
      }
      await waitFor(select, { label: `the focus in ${label}` })
      await (text === '' ? sendKeys(press([KEYS.Delete!])) : type(text))
    },
    choose: async (label, option) =>
      void (await waitFor(() => read(`(${CHOOSE})(${formatArguments(label, option)})`), {
        label: `${label}: ${option}`,
      })),
    async upload(selector, path) {
      await waitUntil(`document.querySelector(${formatArguments(`${selector}:enabled`)})`)
      await driver.setFile(selector, path)
    },
    press: keys => sendKeys(press(keys.split('+').map(key => KEYS[key] ?? key))),
    type,
    waitForText: pattern => waitUntil(shows(pattern)),
    waitForNoText: pattern => waitUntil(`!${shows(pattern)}`),
    waitUntil,
    async waitForPath(path) {
      const isPath = (now: string) => (typeof path === 'string' ? now === path : path.test(now))
      const readPath = async () => {
        const now = await read<string>('location.pathname + location.search')
        return isPath(now) ? now : null
      }
      return waitFor(readPath, { label: String(path) })
    },
    close: driver.close,
  }
}
