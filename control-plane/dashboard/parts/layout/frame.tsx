import type { ComponentChildren } from 'preact'
import { formatCount } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { UNALERTED_PATH } from '../../core/frame-reads.ts'
import { AREAS } from '../../core/navigation.ts'
import type { ScreenArea } from '../../core/screen.ts'
import { AccountMenu } from './account-menu.tsx'

/** What the page says about itself above its content. */
export type FrameNotice = {
  kind: 'offline' | 'session' | 'version'
  text: string
  link?: { path: string; name: string; isNewTab?: boolean }
}

/** The page around every screen: navigation, notices, account. */
export function Frame({
  area,
  notice,
  unalerted,
  children,
}: {
  area: ScreenArea | null
  notice: FrameNotice | null
  /** the number of active monitors without an alert channel */
  unalerted: number
  children: ComponentChildren
}) {
  const { me, isInteractive, openOverlay } = useFrame()
  return (
    <div class={notice?.kind === 'offline' ? 'frame old' : 'frame'}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <a class="brand" href="/">
          <Mark />
          <span>Picket</span>
        </a>
        <nav aria-label="Main">
          {AREAS.map(({ path, name, icon, ...entry }) => (
            <a key={path} href={path} aria-current={entry.area === area ? 'page' : undefined}>
              <svg viewBox="0 0 24 24" aria-hidden="true">
                <path d={icon} />
              </svg>
              <span>{name}</span>
            </a>
          ))}
        </nav>
        <button type="button" class="search" disabled={!isInteractive} onClick={() => openOverlay('palette')}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5 20 20" />
          </svg>
          <span>Go to</span> <kbd>Ctrl K</kbd>
        </button>
        <AccountMenu />
      </header>
      {notice && (
        <p class={`notice ${notice.kind}`} role="alert">
          {notice.text} {notice.link && <NoticeLink {...notice.link} />}
        </p>
      )}
      {unalerted > 0 && <Unalerted count={unalerted} />}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <button type="button" class="plain" disabled={!isInteractive} onClick={() => openOverlay('calls')}>
          &lt;/&gt; API calls of this page
        </button>
        <a href="/docs">API reference</a>
        <a href="/openapi.json">OpenAPI</a>
        <button type="button" class="plain" disabled={!isInteractive} onClick={() => openOverlay('keys')}>
          Keyboard keys
        </button>
        <span>Times are in the time zone {me.preferences?.time_zone ?? 'of this browser'}.</span>
      </footer>
    </div>
  )
}

const NoticeLink = ({ path, name, isNewTab = false }: NonNullable<FrameNotice['link']>) => (
  <a href={path} {...(isNewTab && { target: '_blank', rel: 'noreferrer' })}>
    {name}
  </a>
)

/** Says on every page that outages would not be noticed. */
function Unalerted({ count }: { count: number }) {
  const { me } = useFrame()
  return (
    <p class="notice unalerted" role="status">
      <span>
        <a href={UNALERTED_PATH}>{formatCount(count, 'active monitor')}</a> {count === 1 ? 'has' : 'have'} no alert
        channel: no alert is sent about an outage.
      </span>
      {canWrite(me) && <a href={`${UNALERTED_PATH}#alert`}>Choose who is alerted</a>}
    </p>
  )
}

/** The sign of the product: three regions, one of them failing. */
const Mark = () => (
  <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
    <rect x="1" y="2" width="3" height="12" />
    <rect x="6.5" y="2" width="3" height="5" class="fail" />
    <rect x="6.5" y="9" width="3" height="5" class="fail" />
    <rect x="12" y="2" width="3" height="12" />
  </svg>
)
