import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ComponentView, GroupView, PageView } from '../../core/types.ts'
import type { TemplatePage } from '../template.ts'
import { Days } from './charts/days.tsx'
import { ResponseChart } from './charts/response-chart.tsx'
import { StatusLabel } from './status-icons.tsx'

export type RowComponent = (props: { component: ComponentView }) => VNode

type Props = {
  page: TemplatePage
  row?: RowComponent
  /** shown above the first component */
  head?: VNode
}

/** All groups and components in display order. Consecutive components without a group share a list. */
export function Components({ page: { view, voice }, row = ComponentRow, head }: Props) {
  return (
    <section id="components" data-live aria-labelledby="components-title">
      <h2 id="components-title">{voice.components}</h2>
      {view.sections.length > 0 && head}
      {view.sections.length === 0 && <p class="empty">{voice.noComponents}</p>}
      {groupIntoBlocks(view).map(block =>
        'group' in block ? <Group group={block.group} row={row} /> : <Rows components={block.components} row={row} />,
      )}
    </section>
  )
}

type Block = { group: GroupView } | { components: ComponentView[] }

function groupIntoBlocks({ sections }: PageView): Block[] {
  const blocks: Block[] = []
  for (const section of sections) {
    const last = blocks.at(-1)
    if (section.kind === 'group') blocks.push({ group: section.group })
    else if (last && 'components' in last) last.components.push(section.component)
    else blocks.push({ components: [section.component] })
  }
  return blocks
}

const Rows = ({ components, row }: { components: readonly ComponentView[]; row: RowComponent }) => (
  <ul class="rows">
    {components.map(component => (
      <SameRow component={component} row={row} />
    ))}
  </ul>
)

/** A row that is rendered again only when its component is another object: the preview renders the page at each keystroke. */
const SameRow = ({ component, row: Row }: { component: ComponentView; row: RowComponent }) =>
  useMemo(() => <Row component={component} />, [component, Row])

/** A group, open unless it is collapsed. A collapsed group shows its worst status. */
function Group({ group, row }: { group: GroupView; row: RowComponent }) {
  return (
    <details class="group" id={`g-${group.id}`} open={!group.isCollapsed}>
      <summary>
        <h3 dir="auto">{group.name}</h3>
        <span class="many">{group.components.length}</span>
        <StatusLabel status={group.status} />
      </summary>
      {group.description && (
        <p class="about" dir="auto">
          {group.description}
        </p>
      )}
      {group.components.length === 0 ? (
        <p class="empty">This group has no components yet.</p>
      ) : (
        <Rows components={group.components} row={row} />
      )}
    </details>
  )
}

/** Name and status above the bar, the chart below. */
const ComponentRow: RowComponent = ({ component }) => (
  <li class="component" id={`c-${component.id}`}>
    <ComponentName component={component} />
    <StatusLabel status={component.status} />
    <Days component={component} />
    <ResponseChart component={component} />
  </li>
)

export const ComponentName = ({ component: { name, description } }: { component: ComponentView }) => (
  <div class="named">
    <strong class="name" dir="auto">
      {name}
    </strong>
    {description && (
      <span class="about" dir="auto">
        {description}
      </span>
    )}
  </div>
)
