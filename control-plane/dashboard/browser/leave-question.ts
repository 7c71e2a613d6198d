const QUESTIONS = {
  page: 'Leave this page? What you did not save or copy is lost.',
  form: 'Close this form? What you did not save is lost.',
}

/** The forms with changes and the secrets of the page, each with the address at which it is shown. */
const holds = new Map<symbol, string>()
/** Until then the page may be left without another question, because the person has just agreed. */
let agreedUntilMs = 0
const AGREED_MS = 1_000

/**
 * Asks before the page is left: by a link, by the back button, by closing the tab, and where `mayLeave` is called. Nothing is
 * asked for links within the page, for new tabs, and when a form itself opens the next page. Returns a function that ends the
 * question.
 */
export function holdPage(): () => void {
  const hold = Symbol('hold')
  if (holds.size === 0) listen(addEventListener)
  holds.set(hold, location.href)
  return () => {
    if (holds.delete(hold) && holds.size === 0) listen(removeEventListener)
  }
}

/** Returns whether the page may be left, or the open form closed. Asks the person if something on the page is not saved. */
export function mayLeave(what: keyof typeof QUESTIONS = 'page'): boolean {
  if (holds.size === 0) return true
  if (!confirm(QUESTIONS[what])) return false
  if (what === 'page') agreedUntilMs = Date.now() + AGREED_MS
  return true
}

// in the capture phase, so that the router does not handle an event that was refused
function listen(change: typeof addEventListener | typeof removeEventListener): void {
  change('click', onClick as (event: Event) => void, true)
  change('popstate', onBack, true)
  change('beforeunload', onUnload as (event: Event) => void)
}

function onClick(event: MouseEvent): void {
  if (opensPageHere(event) && !mayLeave()) refuse(event)
}

function onBack(event: Event): void {
  const address = [...holds.values()].at(-1)
  if (mayLeave()) return
  refuse(event)
  history.pushState(null, '', address)
}

function onUnload(event: BeforeUnloadEvent): void {
  if (Date.now() > agreedUntilMs) event.preventDefault()
}

function refuse(event: Event): void {
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** Loads whole pages instead of opening screens, until the returned function is called. */
export function loadWholePages(): () => void {
  const onClick = (event: MouseEvent) => {
    if (!opensPageHere(event) || event.defaultPrevented) return
    // the browser follows the link, because the router does not see the click
    event.stopImmediatePropagation()
  }
  addEventListener('click', onClick, true)
  return () => removeEventListener('click', onClick, true)
}

/** Whether a click opens another page in this tab. */
function opensPageHere(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false
  const link = (event.target as Element | null)?.closest?.('a[href]')
  const href = link?.getAttribute('href') ?? '#'
  return !href.startsWith('#') && !link?.getAttribute('target')
}
