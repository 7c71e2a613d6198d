import { assertPlanAllowsDomains } from '../../accounts/plans/actions.ts'
import { signRsaSha256 } from '../../foundation/platform/crypto/rsa.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import {
  conflict,
  domainConnectUnavailable,
  found,
  notFound,
  validationError,
} from '../../foundation/web/server/errors.ts'
import { findPage as findStoredPage } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'
import { buildAnalysis, buildRequiredRecords } from './analysis.ts'
import { type DomainLookUpContext, fetchCertificate, findConnectProvider, lookUpDnsFacts } from './dns-reader.ts'
import { buildApplyQuery, buildLaunchUrl, LAUNCH_TIMEOUT_MS } from './domain-connect.ts'
import { parseCustomDomain } from './hostname.ts'
import type { CustomDomainSettings } from './settings.ts'
import { clearVerified, type DomainRow, findDomain, findDomainOwner, markVerified, setDomain } from './store.ts'
import type { DnsFacts, DomainAnalysis } from './types.ts'

export type DomainTools = {
  db: Db
  lookUpContext: DomainLookUpContext
  settings: CustomDomainSettings
  /** hosts of this installation, which cannot be custom domains */
  ownHosts: string[]
  /** signs the challenges that prove ownership of a domain */
  sign: Signer
}

type DomainRequest = { tools: DomainTools; caller: ApiCaller; pageId: string }

/** What a domain still needs. Changes nothing. Throws 400, 403, 404. */
export async function analyzeDomain({ tools, caller, pageId }: DomainRequest, text: string): Promise<DomainAnalysis> {
  const domain = parseRequestedDomain(tools, text)
  const page = await findEntitledPage(tools, caller, pageId)
  return analyze(tools, page, domain, await lookUpDnsFacts(domain, tools.settings.target, tools.lookUpContext))
}

/** A signed URL with which the DNS provider sets the records. Throws 422 when Domain Connect is unavailable. */
export async function launchDomainConnect({ tools, caller, pageId }: DomainRequest, text: string, now: Date) {
  const domain = parseRequestedDomain(tools, text)
  const page = await findEntitledPage(tools, caller, pageId)
  const { connect, target } = tools.settings
  if (connect === null) throw domainConnectUnavailable('Domain Connect is not configured on this server')
  const { zone } = await lookUpDnsFacts(domain, target, tools.lookUpContext)
  const connectable = zone && (await findConnectProvider(zone.name, connect.template, tools.lookUpContext))
  if (!zone || !connectable) {
    throw domainConnectUnavailable(`the DNS provider of ${domain} does not support Domain Connect`)
  }
  const { settings, hasTemplate } = connectable
  if (!hasTemplate || settings.urlSyncUx === null) {
    throw domainConnectUnavailable(
      `${settings.providerName} supports Domain Connect, but not for status pages of Picket`,
    )
  }
  if (zone.name === domain) {
    throw domainConnectUnavailable(
      `${domain} is the top of its zone, which cannot have a CNAME; add the records by hand`,
    )
  }
  const query = buildApplyQuery({
    zone: zone.name,
    domain,
    target,
    challenge: buildChallenge(tools, page.projectId, domain),
  })
  const signature = signRsaSha256(query, connect.key)
  return {
    url: buildLaunchUrl(settings.urlSyncUx, connect.template, query, { signature, keyHost: connect.keyHost }),
    provider_id: settings.providerId,
    service_id: connect.template.serviceId,
    expires_at: new Date(now.getTime() + LAUNCH_TIMEOUT_MS),
  }
}

/**
 * Sets the domain of a page and verifies it. Returns what is missing. Throws 400, 403, 404, and 409 when the domain is verified
 * for another page; the page then keeps its earlier domain.
 */
export async function setCustomDomain(request: DomainRequest, text: string, now: Date): Promise<DomainAnalysis> {
  const { tools, caller, pageId } = request
  const domain = parseRequestedDomain(tools, text)
  const page = await findEntitledPage(tools, caller, pageId)
  return verifyAndSave(tools, page, domain, now, async tx => {
    await assertPlanAllowsDomains(tx, caller.organizationId)
    await setDomain(tx, page.id, domain, now)
  })
}

/** Verifies again. Throws 404 when the page has no domain, 409 when the domain is verified for another page. */
export async function verifyDomain({ tools, caller, pageId }: DomainRequest, now: Date): Promise<DomainAnalysis> {
  const page = await findPage(tools, caller, pageId)
  if (page.domain === null) throw notFound('custom domain')
  await assertPlanAllowsDomains(tools.db, caller.organizationId)
  return verifyAndSave(tools, page, page.domain, now)
}

/** Removes the domain of a page, on any plan. Returns the page. Throws 404. */
export async function removeDomain({ tools, caller, pageId }: DomainRequest, now: Date): Promise<StoredPage> {
  const page = await findPage(tools, caller, pageId)
  if (page.domain === null) throw notFound('custom domain')
  await setDomain(tools.db, page.id, null, now)
  const updated = found(await findStoredPage(tools.db, caller.projectId, page.id), 'status page')
  return updated
}

/** Verifies a domain, then calls `save` and stores the result in one transaction. Throws 409, and then stores nothing. */
async function verifyAndSave(
  tools: DomainTools,
  page: DomainRow,
  domain: string,
  now: Date,
  save: (tx: Tx) => Promise<void> = async () => {},
): Promise<DomainAnalysis> {
  const facts = await lookUpDnsFacts(domain, tools.settings.target, tools.lookUpContext)
  const analysis = await analyze(tools, page, domain, facts)
  await tools.db.transaction(async tx => {
    await save(tx)
    if (!analysis.verified) return
    await releasePreviousOwner(tools, tx, { page, domain, facts }, now)
    if (!(await markVerified(tx, page.id, domain, now))) throw domainTakenError(domain)
  })
  return analysis
}

type VerifiedDomain = { page: DomainRow; domain: string; facts: DnsFacts }

/** Releases the domain when its current page can no longer prove ownership. Throws 409 when it can. */
async function releasePreviousOwner(tools: DomainTools, tx: Tx, { page, domain, facts }: VerifiedDomain, now: Date) {
  const holder = await findDomainOwner(tx, domain)
  if (holder === null || holder.id === page.id) return
  const isProven = facts.texts.includes(buildChallenge(tools, holder.projectId, domain))
  if (isProven) throw domainTakenError(domain)
  await clearVerified(tx, holder.id, domain, now)
}

const domainTakenError = (domain: string) => conflict(`${domain} is already the custom domain of another status page`)

async function analyze(tools: DomainTools, page: DomainRow, domain: string, facts: DnsFacts): Promise<DomainAnalysis> {
  const { settings, lookUpContext } = tools
  const requirements = { domain, target: settings.target, challenge: buildChallenge(tools, page.projectId, domain) }
  const template = settings.connect?.template ?? null
  const pointsHere = buildRequiredRecords(requirements, facts)[0]!.ok
  const [connectable, certificate] = await Promise.all([
    template && facts.zone ? findConnectProvider(facts.zone.name, template, lookUpContext) : null,
    pointsHere ? fetchCertificate(domain, lookUpContext) : null,
  ])
  const name = template && `${template.providerId}/${template.serviceId}`
  return buildAnalysis(requirements, facts, { connectable, certificate, template: name })
}

async function findPage({ db }: DomainTools, caller: ApiCaller, pageId: string): Promise<DomainRow> {
  const page = found(isId(pageId) && (await findDomain(db, caller.projectId, pageId)), 'status page')
  return page
}

async function findEntitledPage(tools: DomainTools, caller: ApiCaller, pageId: string): Promise<DomainRow> {
  const page = await findPage(tools, caller, pageId)
  await assertPlanAllowsDomains(tools.db, caller.organizationId)
  return page
}

function parseRequestedDomain({ ownHosts }: DomainTools, text: string): string {
  const parsed = parseCustomDomain(text, ownHosts)
  if ('domain' in parsed) return parsed.domain
  throw validationError([{ path: 'domain', message: parsed.problem }])
}

/** The same for all pages of a project, so that a page can be created again without a change in DNS. */
const buildChallenge = ({ sign }: DomainTools, projectId: string, domain: string) =>
  `picket-verify=${sign(`${projectId} ${domain}`).slice(0, 32)}`
