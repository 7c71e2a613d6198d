import type { ComponentChildren } from 'preact'
import { truncateToMinute } from '../dates.ts'
import { STATUS_LETTERS } from '../labels.ts'
import { buildPageLinks, type TemplatePage, toSameOriginPath } from '../template.ts'
import { Moment } from './moment.tsx'
import { OverallIcon } from './status-icons.tsx'

/** Logo and name. Screen readers read only the name. */
export function Masthead({ page: { view } }: { page: TemplatePage }) {
  const logo = toSameOriginPath(view.logoUrl)
  return (
    <h1 class="masthead">
      {logo && <img src={logo} alt="" height={40} />}
      <span dir="auto">{view.name}</span>
    </h1>
  )
}

/** The overall sentence. Screen readers announce it when it changes. */
export const Overall = ({ page: { view }, children }: { page: TemplatePage; children?: ComponentChildren }) => (
  <div id="overall" data-live class={`overall ${STATUS_LETTERS[view.overall.status]}`} role="status">
    <OverallIcon status={view.overall.status} />
    <p class="sentence">{view.overall.sentence}</p>
    {children}
  </div>
)

export const StaleNotice = ({ view }: Pick<TemplatePage, 'view'>) => (
  <div id="stale" data-live>
    {view.staleSince !== undefined && (
      <p class="stale">
        This page could not be updated. Its content is from <Moment at={truncateToMinute(view.staleSince)} />.
      </p>
    )}
  </div>
)

export const Updated = ({ at }: { at: string }) => <Moment at={truncateToMinute(at)} />

/** All ways to follow the page, behind a button that needs no script. */
export function Subscribe({ page: { view, voice } }: { page: TemplatePage }) {
  const links = buildPageLinks(view)
  return (
    <details class="subscribe">
      <summary>{voice.subscribe}</summary>
      <ul>
        <li>
          <a href={links.subscribe}>By email or webhook</a>
        </li>
        <li>
          <a href={links.rss}>RSS feed</a>
        </li>
        <li>
          <a href={links.atom}>Atom feed</a>
        </li>
        <li>
          <a href={links.json}>JSON</a>
        </li>
      </ul>
    </details>
  )
}

export const Footer = ({ page: { view } }: { page: TemplatePage }) => (
  <footer class="footer">
    <p id="updated" data-live>
      Updated <Updated at={view.at} />. Days are counted in UTC.
    </p>
    <p class="powered">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M1 15V5l2-3 2 3v10zm5 0V4l2-3 2 3v11zm5 0V5l2-3 2 3v10z" />
      </svg>
      Powered by Picket
    </p>
  </footer>
)
