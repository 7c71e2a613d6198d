/**
 * `widget.js`, the same for every page: a pill with the overall status on the site that includes the script. It derives
 * the address of the status page from its own, contacts no other host and sets no cookie. It runs in a shadow root with
 * constructed styles, so neither the site's styles nor its Content-Security-Policy for styles affect it.
 * Options of the tag: `data-position` (bottom-right, bottom-left, top-right, top-left; inline places it at the tag),
 * `data-target` (a selector, for inline), `data-theme` (auto, light, dark), `data-label`, `data-hide-when-operational`.
 */
type Status = {
  indicator: string
  description: string
  /** absent in an answer of a previous version that a cache still has */
  picket_status?: string
  picket_stale_since?: string | null
}

const REFRESH_MS = 60_000
const UNKNOWN = '#98a2b3'
/** by indicator of Statuspage, which has none for unknown */
const COLOURS: Record<string, string> = {
  none: '#17b26a',
  minor: '#f79009',
  major: '#ef6820',
  critical: '#f04438',
  maintenance: '#2e90fa',
}
const DARK = '{background:#161b26;color:#f5f5f6;border-color:#333741}'
const STYLE = [
  ':host{all:initial}:host([hidden]){display:none}',
  'a{display:inline-flex;align-items:center;gap:8px;max-width:min(320px,calc(100vw - 32px));box-sizing:border-box;padding:8px 14px;border-radius:999px;border:1px solid #d0d5dd;background:#fff;color:#101828;text-decoration:none;font:500 14px/20px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}',
  'a.floating{position:fixed;z-index:2147483000;box-shadow:0 4px 12px rgb(16 24 40/.15)}',
  '.bottom{bottom:16px}.top{top:16px}.right{right:16px}.left{left:16px}',
  'a:focus-visible{outline:2px solid #2e90fa;outline-offset:2px}',
  `a.dark${DARK}@media (prefers-color-scheme:dark){a.auto${DARK}}`,
  '@media print{a.floating{display:none}}',
  'i{flex:none;width:10px;height:10px;border-radius:50%;background:var(--status)}',
  'span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}',
].join('')

const script = document.currentScript as HTMLScriptElement | null
if (script) startWidget(script)

function startWidget(tag: HTMLScriptElement): void {
  const page = new URL('.', tag.src).href.replace(/\/$/, '')
  const { position = 'bottom-right', theme = 'auto', label, hideWhenOperational } = tag.dataset
  const { host, pill, text } = makePill(page)
  pill.className = ['light', 'dark'].includes(theme) ? theme : 'auto'
  const isFloating = /^(bottom|top)-(right|left)$/.test(position)
  if (isFloating) pill.classList.add('floating', ...position.split('-'))

  const show = ({ indicator, description, picket_status: status, picket_stale_since: staleSince }: Status) => {
    if (staleSince && Date.now() - Date.parse(staleSince) > REFRESH_MS) return host.remove()
    pill.style.setProperty('--status', (status !== 'unknown' && COLOURS[indicator]) || UNKNOWN)
    text.textContent = label ? `${label}: ${description}` : description
    host.hidden = hideWhenOperational !== undefined && indicator === 'none' && status !== 'unknown'
    if (!host.isConnected) place(host, tag, isFloating)
  }
  // when the page is unreachable or could not be updated, nothing is shown instead of an outdated status
  const look = () => {
    if (document.hidden) return
    readStatus(page).then(show, () => host.remove())
  }
  const begin = () => {
    look()
    setInterval(look, REFRESH_MS)
    document.addEventListener('visibilitychange', look)
  }
  if (document.body) begin()
  else document.addEventListener('DOMContentLoaded', begin)
}

async function readStatus(page: string): Promise<Status> {
  const answer = await fetch(`${page}/api/v2/status.json`, { credentials: 'omit', referrerPolicy: 'no-referrer' })
  if (!answer.ok) throw new Error(String(answer.status))
  return ((await answer.json()) as { status: Status }).status
}

function makePill(page: string) {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]
  const pill = root.appendChild(document.createElement('a'))
  pill.append(document.createElement('i'))
  const text = pill.appendChild(document.createElement('span'))
  Object.assign(pill, { href: page, target: '_blank', rel: 'noopener' })
  return { host, pill, text }
}

function place(host: HTMLElement, tag: HTMLScriptElement, isFloating: boolean): void {
  const { target } = tag.dataset
  const inside = isFloating ? document.body : target && document.querySelector(target)
  if (inside) inside.append(host)
  else tag.after(host)
}
