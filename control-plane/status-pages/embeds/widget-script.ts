/**
 * `widget.js`, the same for every page: a pill that says how things are, in the page that has the script's tag in it. It
 * finds its page by its own address, asks nobody else, sets no cookie, and lives in a shadow root with constructed
 * styles, so that neither the embedding page's styles nor its Content-Security-Policy reach it. Options of the tag:
 * `data-position` (bottom-right, bottom-left, top-right, top-left; inline puts it where the tag stands), `data-target`
 * (a selector, for inline), `data-theme` (auto, light, dark), `data-label`, `data-hide-when-operational`.
 */
export const WIDGET_SCRIPT = `(() => {
  'use strict'
  const script = document.currentScript
  if (!script) return
  const page = new URL('.', script.src).href.replace(/\\/$/, '')
  const { position = 'bottom-right', target, theme = 'auto', label, hideWhenOperational } = script.dataset
  const REFRESH_MS = 60000
  const COLOURS = { none: '#17b26a', minor: '#f79009', major: '#ef6820', critical: '#f04438', maintenance: '#2e90fa' }
  const STYLE = \`
    :host { all: initial }
    a { display: inline-flex; align-items: center; gap: 8px; max-width: min(320px, calc(100vw - 32px)); box-sizing: border-box;
      padding: 8px 14px; border-radius: 999px; border: 1px solid #d0d5dd; background: #fff; color: #101828; text-decoration: none;
      font: 500 14px/20px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif }
    a.floating { position: fixed; z-index: 2147483000; box-shadow: 0 4px 12px rgb(16 24 40 / 0.15) }
    a.bottom { bottom: 16px } a.top { top: 16px } a.right { right: 16px } a.left { left: 16px }
    a:focus-visible { outline: 2px solid #2e90fa; outline-offset: 2px }
    a.dark { background: #161b26; color: #f5f5f6; border-color: #333741 }
    @media (prefers-color-scheme: dark) { a.auto { background: #161b26; color: #f5f5f6; border-color: #333741 } }
    @media print { a.floating { display: none } }
    i { flex: none; width: 10px; height: 10px; border-radius: 50%; background: #98a2b3 }
    span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
  \`

  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]
  const pill = root.appendChild(document.createElement('a'))
  const dot = pill.appendChild(document.createElement('i'))
  const text = pill.appendChild(document.createElement('span'))
  pill.href = page
  pill.target = '_blank'
  pill.rel = 'noopener'
  pill.className = ['auto', 'light', 'dark'].includes(theme) ? theme : 'auto'
  const isFloating = /^(bottom|top)-(right|left)$/.test(position)
  if (isFloating) pill.classList.add('floating', ...position.split('-'))

  const show = status => {
    dot.style.background = COLOURS[status.indicator] || '#98a2b3'
    text.textContent = label ? label + ': ' + status.description : status.description
    host.hidden = hideWhenOperational !== undefined && status.indicator === 'none'
    if (host.isConnected) return
    const place = target && document.querySelector(target)
    if (isFloating) document.body.appendChild(host)
    else if (place) place.appendChild(host)
    else script.after(host)
  }

  // nothing is shown rather than something wrong when the page cannot be reached
  const look = () => {
    if (document.hidden) return
    fetch(page + '/api/v2/status.json', { credentials: 'omit', referrerPolicy: 'no-referrer' })
      .then(answer => (answer.ok ? answer.json() : Promise.reject()))
      .then(({ status }) => show(status))
      .catch(() => host.remove())
  }
  const begin = () => {
    look()
    setInterval(look, REFRESH_MS)
    document.addEventListener('visibilitychange', look)
  }
  if (document.body) begin()
  else document.addEventListener('DOMContentLoaded', begin)
})()
`
