import { useEffect, useRef } from 'preact/hooks'
import { changeAddress } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { Failure, Loaded } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'
import type { Check, Monitor } from '../types.ts'
import { CheckDetail } from './check-detail.tsx'

/** The id of the row that leads to a check. */
export const toRowId = (id: string) => `check-${id}`

/**
 * The reads of the check that `?check=` (its id) and `&at=` (its time) name. Null without an address of a check. The id alone
 * finds a check only among those of the list.
 */
export function buildCheckReads(monitorId: string, search: URLSearchParams) {
  const atMs = Date.parse(search.get('at') ?? '')
  if (!search.get('check') || Number.isNaN(atMs)) return null
  const [from, to] = [new Date(atMs).toISOString(), new Date(atMs + 1).toISOString()]
  return {
    check: read('listMonitorChecks', { path: { id: monitorId }, query: { from, to, per_page: 100 } }),
    screenshots: read('listMonitorScreenshots', { path: { id: monitorId }, query: { per_page: 50 } }),
  }
}

type Screenshot = OperationResponse<'listMonitorScreenshots'>['data'][number]

type DrawerProps = {
  monitor: Monitor
  search: URLSearchParams
  /** the checks of the time that the address names, or else those of the list */
  result: Result<OperationResponse<'listMonitorChecks'>>
  screenshots: Result<OperationResponse<'listMonitorScreenshots'>> | undefined
}

/** The check that the address names, at the side. Without scripts it is a part of the page with a link that closes it. */
export function CheckDrawer({ monitor, search, result, screenshots }: DrawerProps) {
  const { isInteractive, navigate } = useFrame()
  const id = search.get('check')!
  const closedAddress = changeAddress(`/monitors/${monitor.id}`, search, { check: null, at: null })
  const close = useRef(() => {})
  close.current = () => navigate(closedAddress)
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isInteractive) return
    const { ownerDocument: page } = head.current!
    head.current!.focus()
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || page.querySelector('dialog[open]')) return
      event.preventDefault()
      close.current()
    }
    page.addEventListener('keydown', onKey)
    return () => {
      page.removeEventListener('keydown', onKey)
      page.getElementById(toRowId(id))?.focus({ preventScroll: true })
    }
  }, [isInteractive, id])
  return (
    <section class="drawer" id="check" aria-labelledby="check-title">
      <div class="drawer-head">
        <h2 id="check-title" tabIndex={-1} ref={head}>
          Check
        </h2>
        <a class="button quiet" href={closedAddress}>
          Close
        </a>
      </div>
      <Loaded result={result} what="The check">
        {({ data }) => {
          const check = data.find(one => one.id === id)
          return check ? <FoundCheck check={check} monitor={monitor} screenshots={screenshots} /> : <NoCheck />
        }}
      </Loaded>
    </section>
  )
}

/** Whether a picture is the screenshot of a check of the same region. */
const isPictureOfCheck = (check: Check, { scheduled_at: at, attempt }: Screenshot) =>
  Date.parse(at) === Date.parse(check.scheduled_at) && attempt === check.attempt

function FoundCheck({ check, monitor, screenshots }: { check: Check } & Pick<DrawerProps, 'monitor' | 'screenshots'>) {
  const pictures = screenshots?.data?.data.filter(({ region }) => region === check.region) ?? []
  const baseline = pictures.find(({ kind }) => kind === 'baseline')
  // only the newest comparison is accepted; after that its kind is that of a baseline
  const newest = pictures.find(({ kind }) => kind !== 'failure')
  const isAcceptable =
    monitor.screenshot_compare &&
    newest?.kind === 'comparison' &&
    !!newest.difference &&
    isPictureOfCheck(check, newest)
  return (
    <>
      <p>
        <span class={check.status === 'down' || check.status === 'degraded' ? check.status : undefined}>
          {check.status}
        </span>{' '}
        in {check.region}, <Moment at={check.scheduled_at} />
      </p>
      <CheckDetail check={check} baseline={baseline?.url ?? null} isAcceptable={isAcceptable} />
      {monitor.screenshot_compare && check.screenshot_url && screenshots && (
        <Failure result={screenshots} what="The baseline" />
      )}
    </>
  )
}

const NoCheck = () => (
  <p class="missing">
    There is no such check of this monitor: it was deleted because of its age, or it belongs to another monitor.
  </p>
)
