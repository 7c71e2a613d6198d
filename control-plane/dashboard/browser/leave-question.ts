const QUESTION = 'Leave this page? The changes are not saved.'

/**
 * Asks before the page is left: by a link, by the back button, by closing the tab. Nothing is asked for links within the
 * page, for new tabs, and when a form itself opens the next page. Returns a function that ends the question.
 */
export function holdPage(): () => void {
  const address = location.href
  const refuse = (event: Event) => {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const onClick = (event: MouseEvent) => {
    if (opensPageHere(event) && !confirm(QUESTION)) refuse(event)
  }
  const onBack = (event: Event) => {
    if (confirm(QUESTION)) return
    refuse(event)
    history.pushState(null, '', address)
  }
  const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
  // in the capture phase, so that the router does not handle an event that was refused
  addEventListener('click', onClick, true)
  addEventListener('popstate', onBack, true)
  addEventListener('beforeunload', onUnload)
  return () => {
    removeEventListener('click', onClick, true)
    removeEventListener('popstate', onBack, true)
    removeEventListener('beforeunload', onUnload)
  }
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
