import { localizeTimes } from './times.ts'

const REFRESH_INTERVAL_MS = 45_000
const TIMEOUT_MS = 15_000
const FAILURES_SHOWN = 2
/** Those of a part that depend on its content: past incidents without a day to show are hidden and have no title. */
const CHANGING_ATTRIBUTES = ['class', 'hidden', 'aria-labelledby']

/**
 * Fetches the page again while it is visible, and replaces the parts that changed. Unchanged parts are not touched, so
 * nothing flickers, and open details stay open. With the ETag most responses are empty.
 */
export function startLiveUpdates(): void {
  const shown = new Map(listLiveParts(document).map(part => [part.id, getOwnHtml(part)]))
  let requestedMs = performance.now()
  let [updatedAt, failures] = [new Date(), 0]
  const refresh = async () => {
    if (document.hidden || performance.now() - requestedMs < REFRESH_INTERVAL_MS) return
    requestedMs = performance.now()
    const next = await fetchPage().catch(() => null)
    if (next) {
      // the notice of this script is replaced by that of the server
      if (failures >= FAILURES_SHOWN) shown.delete('stale')
      ;[updatedAt, failures] = [new Date(), 0]
      update(next, shown)
    } else if (++failures === FAILURES_SHOWN) showStale(updatedAt)
  }
  setInterval(refresh, REFRESH_INTERVAL_MS / 9)
  document.addEventListener('visibilitychange', refresh)
}

/** Says that the page is not current, in the words of the server; one failure may be a moment without a network. */
function showStale(updatedAt: Date): void {
  const here = document.getElementById('stale')
  // the server has said so already, with an earlier time
  if (!here || here.firstElementChild) return
  const time = document.createElement('time')
  time.dateTime = updatedAt.toISOString()
  const notice = document.createElement('p')
  notice.className = 'stale'
  notice.append('This page could not be updated. Its content is from ', time, '.')
  localizeTimes(notice)
  here.append(notice)
}

async function fetchPage(): Promise<Document | null> {
  const answer = await fetch(location.pathname + location.search, {
    cache: 'no-cache',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!answer.ok) return null
  // the policy of this page would report the styles of another one
  const text = (await answer.text()).replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, '')
  return new DOMParser().parseFromString(text, 'text/html')
}

/** Replaces the changed parts. A different template, colour or style needs a reload of the page. */
function update(next: Document, shown: Map<string, string>): void {
  if (getCodeVersion(next) !== getCodeVersion(document)) return void location.reload()
  for (const part of listLiveParts(next)) {
    const here = document.getElementById(part.id)
    const html = getOwnHtml(part)
    if (!here || shown.get(part.id) === html) continue
    shown.set(part.id, html)
    replace(here, part)
  }
}

function replace(here: Element, part: Element): void {
  const open = new Map(listDetails(here).map(([key, details]) => [key, details.open]))
  const focused = listDetails(here).find(([, details]) => details.firstElementChild === document.activeElement)?.[0]
  localizeTimes(part)
  for (const name of CHANGING_ATTRIBUTES) {
    const value = part.getAttribute(name)
    if (value === null) here.removeAttribute(name)
    else here.setAttribute(name, value)
  }
  here.replaceChildren(...part.childNodes)
  for (const [key, details] of listDetails(here)) {
    details.open = open.get(key) ?? details.open
    if (key === focused) (details.firstElementChild as HTMLElement).focus({ preventScroll: true })
  }
}

/** Without the parts in it that change on their own. */
function getOwnHtml(part: Element): string {
  const copy = part.cloneNode(true) as Element
  for (const inner of listLiveParts(copy)) inner.replaceChildren()
  return copy.outerHTML
}

const listLiveParts = (root: ParentNode) => [...root.querySelectorAll('[data-live]')]
const getCodeVersion = (root: Document) => root.documentElement.dataset.code

/** Every `<details>` with a key of its record. */
const listDetails = (root: Element): [string, HTMLDetailsElement][] =>
  [...root.querySelectorAll('details')].map(details => [`${details.closest('[id]')?.id} ${details.className}`, details])
