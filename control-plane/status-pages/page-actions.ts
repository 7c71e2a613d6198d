import type { Egress } from '../../shared/egress/index.ts'
import { assertWithinLimit } from '../accounts/actions.ts'
import { isId, newId } from '../platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../platform/postgres.ts'
import type { Caller } from '../web/auth.ts'
import { conflict, notFound, validationError } from '../web/errors.ts'
import { makeSafe } from './custom-css.ts'
import { inPage } from './hold-actions.ts'
import { fetchImage } from './image-actions.ts'
import { type NewImage, putImage, removeImage } from './image-store.ts'
import { imageUrlOf } from './present.ts'
import type { StoredPage } from './records.ts'
import { DEFAULT_COLOR, DEFAULT_TEMPLATE, type PageCreate, type PageUpdate } from './schema.ts'
import { findPage, insertPage, updatePage } from './store.ts'
import { silencePage } from './subscribers/notice-store.ts'
import type { ImageKind } from './types.ts'

export type PageTools = {
  db: Db
  egress: Egress
  publicUrl: string
  /** images by their address, from before a transaction that must not wait for them */
  fetched?: ReadonlyMap<string, NewImage>
}

const KINDS: readonly ImageKind[] = ['logo', 'favicon']

/** A new page is unpublished (decisions 7.1). Throws 402 when the plan is full, 409 when somebody has the slug. */
export async function createPage({ db }: PageTools, caller: Caller, body: PageCreate, now: Date): Promise<StoredPage> {
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
    isPublished: false,
    showResponseTimes: true,
    showUptimePercentage: true,
    customDomain: null,
    customDomainVerifiedAt: null,
    logo: null,
    favicon: null,
    createdAt: now,
    updatedAt: now,
  }
  try {
    await db.transaction(async tx => {
      await assertWithinLimit(tx, caller.organizationId, 'statusPages', 1)
      await insertPage(tx, page)
    })
  } catch (error) {
    if (!isUniqueViolation(error, 'status_pages_slug')) throw error
    throw conflict(`the slug "${page.slug}" is taken`)
  }
  return page
}

/**
 * Changes what the body names. Throws 404, and 400 for styles that a page may not have and for images that cannot be
 * had.
 */
export async function changePage(
  tools: PageTools,
  projectId: string,
  id: string,
  body: PageUpdate,
  now: Date,
): Promise<StoredPage> {
  const { db } = tools
  assertStyle(body.custom_css)
  const known = isId(id) ? await findPage(db, projectId, id) : null
  if (!known) throw notFound('status page')
  const images = await newImages(tools, known, body)
  return inPage(db, projectId, id, now, async (tx, page) => {
    await updatePage(tx, { ...withBody(page, body), updatedAt: now })
    if (body.is_published === false) await silencePage(tx, page.id, now)
    for (const { kind, image } of images) await storeImage(tx, page.id, kind, image, now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}

/**
 * The images that a page would have to fetch to become what a body says, by their address. `page` null: it is not there
 * yet. Throws 400 as `changePage` does.
 */
export async function imagesAhead(tools: PageTools, page: StoredPage | null, body: PageUpdate) {
  const changed = await newImages(tools, page, body)
  return new Map(changed.flatMap(({ image }) => (image?.sourceUrl ? [[image.sourceUrl, image] as const] : [])))
}

function withBody(page: StoredPage, body: PageUpdate): StoredPage {
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

function assertStyle(css: string | null | undefined): void {
  const made = css ? makeSafe(css) : null
  if (made === null || !('problem' in made)) return
  throw validationError([{ path: 'custom_css', message: `custom_css ${made.problem}` }])
}

type ChangedImage = { kind: ImageKind; image: NewImage | null }

/** Those that the body names anew, fetched; an address that a read has answered changes nothing. */
async function newImages(
  { egress, publicUrl, fetched }: PageTools,
  page: StoredPage | null,
  body: PageUpdate,
): Promise<ChangedImage[]> {
  const changed: ChangedImage[] = []
  for (const kind of KINDS) {
    const url = body[`${kind}_url`]
    if (url === undefined || url === (page && imageUrlOf(page, kind, publicUrl))) continue
    const ahead = url === null ? undefined : fetched?.get(url)
    const image = url === null ? null : (ahead ?? (await fetchImage(egress, `${kind}_url`, url)))
    changed.push({ kind, image: image && { ...image, id: newId() } })
  }
  return changed
}

function storeImage(tx: Tx, pageId: string, kind: ImageKind, image: NewImage | null, now: Date): Promise<void> {
  return image === null ? removeImage(tx, pageId, kind) : putImage(tx, pageId, kind, image, now)
}
