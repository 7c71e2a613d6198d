export const PLANS = ['free', 'pro', 'business'] as const
export type Plan = (typeof PLANS)[number]

/** Null: no limit. */
export type PlanLimits = {
  monitors: number | null
  statusPages: number | null
  dataSources: number | null
  members: number | null
  customDomain: boolean
  minIntervalSeconds: number
}

/** What a plan includes (decisions 2.5). */
export const PLAN_LIMITS: Record<Plan, PlanLimits> = {
  free: { monitors: 50, statusPages: 1, dataSources: 2, members: 3, customDomain: false, minIntervalSeconds: 30 },
  pro: { monitors: 500, statusPages: 10, dataSources: 20, members: 20, customDomain: true, minIntervalSeconds: 30 },
  business: {
    monitors: null,
    statusPages: null,
    dataSources: null,
    members: null,
    customDomain: true,
    minIntervalSeconds: 30,
  },
}

/** What plans count. */
export type Counted = 'monitors' | 'statusPages' | 'dataSources' | 'members'

export type Usage = { plan: Plan; counted: Counted; limit: number | null; used: number }

const NOUNS: Record<Counted, string> = {
  monitors: 'monitors',
  statusPages: 'status pages',
  dataSources: 'data sources',
  members: 'members',
}

/** Why `adding` more do not fit into the plan, with the limit and the current count; null when they do. */
export function overLimit({ plan, counted, limit, used }: Usage, adding: number): string | null {
  if (limit === null || used + adding <= limit) return null
  return `the ${plan} plan includes ${limit} ${NOUNS[counted]} and ${used} are in use`
}
