import type { ComponentView, PageView } from '../../../../../pages/core/types.ts'
import { isColor, type PageDraft } from '../settings/page-form.ts'

/** The figures that a page shows. */
type ShownFigures = Pick<PageDraft, 'show_uptime_percentage' | 'show_response_times'>

/** The sections of a page without the figures that it does not show. `view`: as the server reads it with all figures. */
export function hideFigures(view: PageView, shown: ShownFigures): PageView['sections'] {
  return mapComponents(view.sections, component => ({
    ...component,
    uptimePercent: shown.show_uptime_percentage ? component.uptimePercent : null,
    responseTimes: shown.show_response_times ? component.responseTimes : null,
  }))
}

/**
 * The view of a page with settings that are not stored, without asking the server. `safeCss`: the custom CSS that the server accepted
 * last. `sections`: with the figures of the form; the same objects are not rendered again.
 */
export function buildDraftView(
  view: PageView,
  form: PageDraft,
  safeCss: string | null,
  sections = hideFigures(view, form),
): PageView {
  return {
    ...view,
    name: form.name,
    template: form.template,
    // a colour that is being typed changes nothing until it is complete
    brandColor: isColor(form.brand_color) ? form.brand_color : view.brandColor,
    customCss: safeCss,
    seoTitle: form.seo_title || null,
    seoDescription: form.seo_description || null,
    showResponseTimes: form.show_response_times,
    showUptimePercentage: form.show_uptime_percentage,
    sections,
  }
}

/** The sections of a page with changed components, in the same order. */
export const mapComponents = (
  sections: PageView['sections'],
  change: (component: ComponentView) => ComponentView,
): PageView['sections'] =>
  sections.map(section =>
    section.kind === 'component'
      ? { ...section, component: change(section.component) }
      : { ...section, group: { ...section.group, components: section.group.components.map(change) } },
  )

/**
 * The view with images that members of the project can read while the page is not published; those of its public addresses
 * answer to visitors of a published page only.
 */
export function withMemberImages(view: PageView): PageView {
  const publicPath = `${view.path}/`
  const toMemberPath = (path: string | null) =>
    path?.startsWith(publicPath) ? `/session/api/v1/status-pages/${view.id}/${path.slice(publicPath.length)}` : path
  return { ...view, logoUrl: toMemberPath(view.logoUrl), faviconUrl: toMemberPath(view.faviconUrl) }
}
