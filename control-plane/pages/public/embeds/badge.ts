import { formatState, truncate } from '../../../alerting/channels/notices/wording.ts'
import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { ComponentView, DisplayStatus, OverallStatus, PageView } from '../../core/types.ts'
import { formatPercent } from '../../templates/labels.ts'
import { findCurrentMedian } from '../../templates/parts/charts/chart-path.ts'
import type { Badge } from './badge-svg.ts'
import { BADGE_STYLES, type BadgeStyle } from './embed-options.ts'

/** The query of a badge: `type`, `component` (an id), `label` and `style`, all optional. */
export type BadgeQuery = { type?: string; component?: string; label?: string; style?: string }

type Value = { message: string; colour: string }
/** `one`: the requested component, null for the whole page. `components`: those of which a figure is the mean. */
type Measure = {
  name: string
  read(view: PageView, components: readonly ComponentView[], one: ComponentView | null): Value | null
}

const MAX_LABEL_LENGTH = 60
const ID_LENGTH = 36

/** Each has enough contrast for white text. */
const COLOURS: Record<OverallStatus, string> = {
  operational: '#067647',
  degraded: '#b54708',
  partial_outage: '#c4320a',
  outage: '#d92d20',
  maintenance: '#175cd3',
  unknown: '#475467',
}
const UNKNOWN: Value = { message: 'unknown', colour: COLOURS.unknown }

/**
 * The content of a badge. It shows only what the page shows: a hidden figure, a component that is not on the page and
 * an unknown type all give `unknown` (docs/design/status-pages.md#feeds-badges-and-embeds).
 */
export function buildBadge(view: PageView, { type = 'status', component: id, label, style }: BadgeQuery): Badge {
  const all = view.sections.flatMap(section =>
    section.kind === 'group' ? section.group.components : section.component,
  )
  const one = id === undefined ? null : (all.find(component => component.id === id) ?? null)
  const measure = Object.hasOwn(MEASURES, type) ? MEASURES[type] : undefined
  const isUnknown = id !== undefined && one === null
  const value = isUnknown ? null : measure?.read(view, one ? [one] : all, one)
  const noun = measure?.name ?? 'status'
  const named = one === null ? noun : type === 'status' ? one.name : `${one.name} ${noun}`
  return {
    label: truncate(toOneLine(label ?? named), MAX_LABEL_LENGTH),
    style: pickStyle(style),
    ...(value ?? UNKNOWN),
  }
}

/**
 * The cache key of a badge of a page; null for a badge that is not cached: a long label, or an unknown type or style.
 */
export function buildBadgeKey({ type, component, label, style }: BadgeQuery): string | null {
  const isCacheable =
    (type === undefined || Object.hasOwn(MEASURES, type)) &&
    (component === undefined || component.length <= ID_LENGTH) &&
    (label === undefined || label.length <= MAX_LABEL_LENGTH) &&
    (style === undefined || BADGE_STYLES.some(known => known === style))
  return isCacheable ? JSON.stringify([type, component, label, style]) : null
}

const pickStyle = (style: string | undefined): BadgeStyle => BADGE_STYLES.find(known => known === style) ?? 'flat'

const MEASURES: Record<string, Measure> = {
  status: {
    name: 'status',
    read: ({ overall, staleSince }, _components, one) =>
      staleSince === undefined ? statusValue(one?.status ?? overall.status) : null,
  },
  uptime: {
    name: 'uptime',
    read: ({ showUptimePercentage }, components) => {
      const percents = components.flatMap(one => one.uptimePercent ?? [])
      return showUptimePercentage && percents.length > 0 ? uptimeValue(mean(percents)) : null
    },
  },
  response_time: {
    name: 'response time',
    read: ({ showResponseTimes }, components) => {
      const medians = components.flatMap(one => findCurrentMedian(one) ?? [])
      return showResponseTimes && medians.length > 0 ? responseValue(mean(medians)) : null
    },
  },
}

const statusValue = (status: OverallStatus | DisplayStatus): Value => ({
  message: formatState(status).toLowerCase(),
  colour: COLOURS[status],
})

function uptimeValue(percent: number): Value {
  const colour = percent >= 99.9 ? COLOURS.operational : percent >= 99 ? COLOURS.degraded : COLOURS.outage
  return { message: `${formatPercent(percent)}%`, colour }
}

function responseValue(ms: number): Value {
  const colour = ms < 500 ? COLOURS.operational : ms < 2_000 ? COLOURS.degraded : COLOURS.outage
  return { message: ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`, colour }
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
