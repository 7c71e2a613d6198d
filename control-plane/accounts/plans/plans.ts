export const PLANS = ['free', 'pro', 'business'] as const
export type PlanName = (typeof PLANS)[number]

/** The resources that plans limit. */
export const COUNTED_RESOURCES = [
  'monitors',
  'statusPages',
  'dataSources',
  'alertChannels',
  'alertSubscriptions',
  'apiKeys',
  'maintenanceWindows',
  'openIncidents',
  'subscribers',
  'members',
] as const
export type CountedResource = (typeof COUNTED_RESOURCES)[number]

/** Null: no limit. */
type PlanLimits = Record<CountedResource, number | null> & {
  customDomain: boolean
  minIntervalSeconds: number
}

/** What each plan includes (docs/design/accounts.md#plans). */
export const PLAN_LIMITS: Record<PlanName, PlanLimits> = {
  free: {
    monitors: 50,
    statusPages: 1,
    dataSources: 2,
    alertChannels: 10,
    alertSubscriptions: 20,
    apiKeys: 10,
    maintenanceWindows: 50,
    openIncidents: 50,
    subscribers: 1_000,
    members: 3,
    customDomain: false,
    minIntervalSeconds: 30,
  },
  pro: {
    monitors: 500,
    statusPages: 10,
    dataSources: 20,
    alertChannels: 50,
    alertSubscriptions: 100,
    apiKeys: 50,
    maintenanceWindows: 500,
    openIncidents: 500,
    subscribers: 10_000,
    members: 20,
    customDomain: true,
    minIntervalSeconds: 30,
  },
  business: {
    monitors: null,
    statusPages: null,
    dataSources: null,
    alertChannels: 500,
    alertSubscriptions: 1_000,
    apiKeys: 500,
    maintenanceWindows: 5_000,
    openIncidents: 5_000,
    subscribers: 100_000,
    members: null,
    customDomain: true,
    minIntervalSeconds: 30,
  },
}

/** Alert rules of one monitor, on every plan. */
const MAX_RULES_PER_MONITOR = 20

/** A limit on each plan; null: no limit. */
export type LimitByPlan = Record<PlanName, number | null>

/** The limits of an installation. */
export type InstallationLimits = Record<CountedResource, LimitByPlan> & {
  rulesPerMonitor: number
  /** channels of a project whose requests go to one host; hosts of chat providers are exempt */
  channelsPerHost: number
}

export const DEFAULT_LIMITS: InstallationLimits = {
  ...(Object.fromEntries(
    COUNTED_RESOURCES.map(counted => [
      counted,
      Object.fromEntries(PLANS.map(plan => [plan, PLAN_LIMITS[plan][counted]])),
    ]),
  ) as Record<CountedResource, LimitByPlan>),
  rulesPerMonitor: MAX_RULES_PER_MONITOR,
  channelsPerHost: 20,
}

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name
export type CountedApiName = SnakeCase<CountedResource>

/** The name in the API: `status_pages`. */
export const toApiName = (counted: CountedResource): CountedApiName =>
  counted.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) as CountedApiName

export type Usage = { plan: PlanName; counted: CountedResource; limit: number | null; used: number }

const NOUNS: Record<CountedResource, string> = {
  monitors: 'monitor',
  statusPages: 'status page',
  dataSources: 'data source',
  alertChannels: 'alert channel',
  alertSubscriptions: 'alert subscription',
  apiKeys: 'API key',
  maintenanceWindows: 'maintenance window',
  openIncidents: 'open incident',
  subscribers: 'subscriber',
  members: 'member',
}

/** Returns why one of the monitors has too many rules, or null. `rules`: the number of rules of each monitor. */
export function checkRuleLimit(rules: number[], limit: number): string | null {
  const most = Math.max(0, ...rules)
  return most <= limit ? null : `a monitor can have at most ${limit} alert rules; this would make ${most}`
}

/** Returns why the plan does not allow `adding` more, with the limit and the current count; null when it does. */
export function checkPlanLimit({ plan, counted, limit, used }: Usage, adding: number): string | null {
  if (limit === null || used + adding <= limit) return null
  const noun = `${NOUNS[counted]}${limit === 1 ? '' : 's'}`
  return `the ${plan} plan includes ${limit} ${noun} and ${used} ${used === 1 ? 'is' : 'are'} in use`
}
