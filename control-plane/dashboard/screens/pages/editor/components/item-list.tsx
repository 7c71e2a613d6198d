import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { FormError } from '../../../../parts/forms/operation-form.tsx'
import { AddItems } from './add-items.tsx'
import { buildItems, type ComponentRecord, type GroupRecord, listSiblings, type PageItem } from './arrangement.ts'
import { ItemRow } from './item-row.tsx'
import { useArranging } from './use-arranging.ts'

/** Everything on a page in one list: components, and groups with their components, in the order that visitors see. */
export function ItemList({
  pageId,
  components,
  groups,
}: {
  pageId: string
  components: readonly ComponentRecord[]
  groups: readonly GroupRecord[]
}) {
  const { me } = useFrame()
  const items = buildItems(components, groups)
  const arranging = useArranging(pageId, items)
  const [draggedId, setDragged] = useState<string | null>(null)
  const [openId, setOpen] = useState<string | null>(null)
  const findName = (id: string) => [...components, ...groups].find(one => one.id === id)?.name ?? ''
  const row = { pageId, groups, arranging, draggedId, setDragged, openId, setOpen, findName }
  return (
    <div ref={arranging.list}>
      {items.length === 0 ? (
        <p class="soft">Nothing is on the page yet. {canWrite(me) && 'Add a monitor below.'}</p>
      ) : (
        <ul class="list page-items">
          {items.map((item, i) => (
            <TopItem
              key={item.id}
              item={item}
              row={row}
              place={{ at: i, count: items.length, nextId: items[i + 1]?.id }}
            />
          ))}
        </ul>
      )}
      <p class="hidden" role="status">
        {arranging.announcement}
      </p>
      <FormError error={arranging.error} />
      {canWrite(me) && items.length > 1 && (
        <AsCall
          call={call('orderStatusPageComponents', {
            path: { id: pageId },
            body: { component_ids: listSiblings(items, null) },
          })}
          name="for the order"
        />
      )}
      {canWrite(me) && <AddItems pageId={pageId} components={components} />}
    </div>
  )
}

type RowProps = Omit<Parameters<typeof ItemRow>[0], 'item' | 'place' | 'groupId'>
type Place = { at: number; count: number; nextId: string | undefined }

const TopItem = ({ item, row, place }: { item: PageItem; row: RowProps; place: Place }) =>
  item.kind === 'component' ? (
    <ItemRow {...row} item={item.component} groupId={null} place={place} />
  ) : (
    <ItemRow {...row} item={item.group} groupId={null} place={place}>
      <ul class="page-items">
        {item.components.map((component, i) => (
          <ItemRow
            {...row}
            key={component.id}
            item={component}
            groupId={item.id}
            place={{ at: i, count: item.components.length, nextId: item.components[i + 1]?.id }}
          />
        ))}
        {item.components.length === 0 && (
          <li class="soft small">No component. Drag one here, or choose the group in it.</li>
        )}
      </ul>
    </ItemRow>
  )
