import { assertWithinLimit } from '../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../accounts/plans/plans.ts'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import { conflict, validationError } from '../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../foundation/web/validation/empty-update.ts'
import { sanitizeProjectCss } from '../core/custom-css/css-actions.ts'
import { removeImage, saveImageUrl } from '../core/images/image-store.ts'
import { findPage, insertPage, updatePage } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'
import type { ImageKind } from '../core/types.ts'
import { cancelPageNotices } from '../subscribers/notice-store.ts'
import { assertNoManualStatus, insertComponents, loadComponentMonitors } from './components/component-actions.ts'
import { assertImageUrl } from './image-actions.ts'
import { withLockedPage } from './page-lock-actions.ts'
import { getImageUrl } from './responses.ts'
import { DEFAULT_COLOR, DEFAULT_TEMPLATE, type PageCreate, type PageUpdate } from './schema.ts'

export type PageTools = {
  db: Db
  checkLiteral: CheckLiteral
  publicUrl: string
  /** default: the limits of the plans */
  limits?: InstallationLimits
}

const IMAGE_KINDS: readonly ImageKind[] = ['logo', 'favicon']

/**
 * Creates a page with its components, or nothing (docs/design/status-pages.md#data). Throws 402 at the limit of the
 * plan, 409 when the slug is in use, 404 for an unknown monitor, 400 for a status together with a monitor.
 */
export async function createPage(
  { db, limits }: PageTools,
  caller: ApiCaller,
  body: PageCreate,
  now: Date,
): Promise<StoredPage> {
  const { components = [] } = body
  for (const [i, component] of components.entries())
    assertNoManualStatus(component.monitor_id != null, component, `components[${i}].`)
  const page: StoredPage = {
    id: newId(),
    projectId: caller.projectId,
    name: body.name,
    slug: body.slug,
    template: body.template ?? DEFAULT_TEMPLATE,
    brandColor: body.brand_color ?? DEFAULT_COLOR,
    customCss: null,
    seoTitle: null,
    seoDescription: null,
    isPublished: body.is_published ?? false,
    showResponseTimes: true,
    showUptimePercentage: true,
    customDomain: null,
    customDomainVerifiedAt: null,
    logo: null,
    favicon: null,
    componentCount: components.length,
    createdAt: now,
    updatedAt: now,
  }
  try {
    await db.transaction(async tx => {
      // before the organization, as imports and windows do
      const monitors = await loadComponentMonitors(tx, caller.projectId, components)
      await assertWithinLimit(tx, caller.organizationId, 'statusPages', 1, limits)
      await insertPage(tx, page)
      if (components.length > 0) await insertComponents(tx, page.id, components, monitors, now)
    })
  } catch (error) {
    if (!isUniqueViolation(error, 'status_pages_slug')) throw error
    throw conflict(`the slug "${page.slug}" is already in use`)
  }
  return page
}

/**
 * Changes the fields that the body contains. Images are fetched later, by the worker. Throws 404, and 400 for CSS that
 * is not accepted and for addresses from which no image may be fetched.
 */
export async function changePage(
  tools: PageTools,
  projectId: string,
  id: string,
  body: PageUpdate,
  now: Date,
): Promise<StoredPage> {
  const { db } = tools
  await assertStyle(projectId, body.custom_css)
  return withLockedPage(db, projectId, id, isEmptyUpdate(body) ? null : now, async (tx, page) => {
    if (isEmptyUpdate(body)) return page
    await updatePage(tx, { ...applyUpdate(page, body), updatedAt: now })
    if (body.is_published === false) await cancelPageNotices(tx, page.id, now)
    for (const kind of IMAGE_KINDS) await changeImage(tx, tools, page, kind, body[`${kind}_url`], now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}

/** The page with the fields that the body contains. Its images are not changed. */
export function applyUpdate(page: StoredPage, body: PageUpdate): StoredPage {
  return {
    ...page,
    name: body.name ?? page.name,
    template: body.template ?? page.template,
    brandColor: body.brand_color ?? page.brandColor,
    customCss: body.custom_css === undefined ? page.customCss : body.custom_css,
    seoTitle: body.seo_title === undefined ? page.seoTitle : body.seo_title,
    seoDescription: body.seo_description === undefined ? page.seoDescription : body.seo_description,
    isPublished: body.is_published ?? page.isPublished,
    showResponseTimes: body.show_response_times ?? page.showResponseTimes,
    showUptimePercentage: body.show_uptime_percentage ?? page.showUptimePercentage,
  }
}

async function assertStyle(projectId: string, css: string | null | undefined): Promise<void> {
  const sanitized = css ? await sanitizeProjectCss(projectId, css) : null
  if (sanitized === null || !('problem' in sanitized)) return
  throw validationError([{ path: 'custom_css', message: `custom_css ${sanitized.problem}` }])
}

/** The address that a read returns changes nothing, unless its last fetch failed: then it is fetched again now. */
async function changeImage(
  tx: Tx,
  { checkLiteral, publicUrl }: PageTools,
  page: StoredPage,
  kind: ImageKind,
  url: string | null | undefined,
  now: Date,
): Promise<void> {
  if (url === undefined) return
  if (url === getImageUrl(page, kind, publicUrl) && !page[kind]?.problem) return
  if (url === null) return removeImage(tx, page.id, kind)
  assertImageUrl(checkLiteral, `${kind}_url`, url)
  await saveImageUrl(tx, page.id, kind, { id: newId(), url }, now)
}
