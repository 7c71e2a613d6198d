import { useEffect, useRef, useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Dialog } from '../../overlays/dialog.tsx'
import { CopyField } from './copy-field.tsx'
import { PageHead, type StatusPageRecord } from './page-head.tsx'

type Subscriber = OperationResponse<'listStatusPageSubscribers'>['data'][number]
type ComponentNames = ReadonlyMap<string, string>

/** `/pages/:id/subscribers` */
export const pageSubscribersScreen = screen({
  path: '/pages/:id/subscribers',
  area: 'pages',
  record: 'page',
  queries: ({ params: { id = '' }, search }) => ({
    page: read('readStatusPage', { path: { id } }),
    subscribers: read('listStatusPageSubscribers', { path: { id }, query: { per_page: 50, page: parsePage(search) } }),
    components: read('listStatusPageComponents', { path: { id } }),
  }),
  title: ({ results }) => `Subscribers of ${results.page.data!.data.name}`,
  Body: ({ results }) => {
    const page = results.page.data!.data
    const names = new Map((results.components.data?.data ?? []).map(({ id, name }) => [id, name]))
    return (
      <>
        <PageHead page={page} current="Subscribers" />
        <NeedsRole what="Removing subscribers" needed="editor" />
        <Loaded result={results.subscribers} what="The subscribers">
          {({ data, meta }) =>
            meta.total === 0 ? (
              <NoSubscribers page={page} />
            ) : (
              <>
                <p class="sentence">
                  {formatCount(meta.total, 'subscriber')}: {formatNumber(meta.email)} by email,{' '}
                  {formatNumber(meta.webhook)} by webhook.
                </p>
                <SubscriberTable page={page} subscribers={data} names={names} />
                <Pager
                  meta={meta}
                  what="subscribers"
                  buildPath={number => buildAddress(`/pages/${page.id}/subscribers`, { page: number })}
                />
                <p class="soft small">
                  Only confirmed subscribers are listed. Addresses are masked, because they belong to your visitors.
                </p>
              </>
            )
          }
        </Loaded>
      </>
    )
  },
})

const NoSubscribers = ({ page }: { page: StatusPageRecord }) => (
  <Empty text="There is no confirmed subscriber. Visitors subscribe on the page and confirm by a link.">
    {page.is_published && <CopyField label="the address of the form" value={`${page.public_url}/subscribe`} />}
  </Empty>
)

function SubscriberTable({
  page,
  subscribers,
  names,
}: {
  page: StatusPageRecord
  subscribers: readonly Subscriber[]
  names: ComponentNames
}) {
  const { me } = useFrame()
  const [chosen, setChosen] = useState<Subscriber | null>(null)
  const [removed, setRemoved] = useState<string | null>(null)
  const announcement = useRef<HTMLParagraphElement>(null)
  const close = () => setChosen(null)
  // the row that had the focus is gone
  useEffect(() => announcement.current?.focus(), [removed])
  return (
    <>
      <Scroll name="Subscribers">
        <table class="rows subscribers">
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">By</th>
              <th scope="col">Components</th>
              <th scope="col">State</th>
              <th scope="col">Since</th>
              {canWrite(me) && (
                <th scope="col">
                  <span class="hidden">Remove</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {subscribers.map(one => (
              <SubscriberRow key={one.id} subscriber={one} names={names} onRemove={() => setChosen(one)} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {removed !== null && (
        <p ref={announcement} role="status" tabIndex={-1}>
          <bdi>{removed}</bdi> is removed.
        </p>
      )}
      {chosen && (
        <RemoveDialog
          page={page}
          subscriber={chosen}
          onClose={close}
          onDone={() => {
            setRemoved(chosen.address)
            close()
          }}
        />
      )}
    </>
  )
}

function SubscriberRow({
  subscriber,
  names,
  onRemove,
}: {
  subscriber: Subscriber
  names: ComponentNames
  onRemove(): void
}) {
  const { me, isInteractive } = useFrame()
  const { type, address, confirmed_at: at } = subscriber
  return (
    <tr>
      <td>
        <b dir="ltr">{address}</b>
      </td>
      <td>{type === 'email' ? 'email' : 'webhook'}</td>
      <td dir="auto">{describeComponents(subscriber, names)}</td>
      <td>
        <State subscriber={subscriber} />
      </td>
      <td class="nowrap soft">
        <Moment at={at} part="date" />
      </td>
      {canWrite(me) && (
        <td>
          <button type="button" disabled={!isInteractive} onClick={onRemove}>
            Remove{' '}
            <span class="hidden">
              <bdi>{address}</bdi>
            </span>
          </button>
        </td>
      )}
    </tr>
  )
}

function RemoveDialog({
  page,
  subscriber: { id, address },
  onClose,
  onDone,
}: {
  page: StatusPageRecord
  subscriber: Subscriber
  onClose(): void
  onDone(): void
}) {
  return (
    <Dialog id="remove-subscriber" title="Remove a subscriber" onClose={onClose}>
      <DeleteForm
        what="subscriber"
        verb="remove"
        name={address}
        consequences="Pending messages are deleted too. The address can subscribe again."
        call={call('deleteStatusPageSubscriber', { path: { id: page.id, sid: id } })}
        onDone={onDone}
      />
      <p>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  )
}

function describeComponents({ component_ids: ids }: Subscriber, names: ComponentNames): string {
  if (ids === null) return 'all'
  const known = ids.flatMap(id => names.get(id) ?? [])
  return known.length === 0 ? formatCount(ids.length, 'component') : known.join(', ')
}

function State({ subscriber }: { subscriber: Subscriber }) {
  const { is_paused: isPaused, consecutive_failures: failures } = subscriber
  if (isPaused) return <span class="down">paused after {formatCount(failures, 'failure')}</span>
  if (failures > 0) return <span class="degraded">the last {failures === 1 ? 'message' : `${failures}`} failed</span>
  return <>receives messages</>
}
