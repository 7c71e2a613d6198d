import type { ComponentChildren } from 'preact'
import { toMinute } from '../../calendar.ts'
import { SIGNS } from '../../words.ts'
import { linksOf, ownPath, type Page } from '../page.ts'
import { Moment } from './moment.tsx'
import { OverallSign } from './signs.tsx'

/** Logo and name; the logo alone says nothing to a screen reader, the name does. */
export function Masthead({ page: { view } }: { page: Page }) {
  const logo = ownPath(view.logoUrl)
  return (
    <h1 class="masthead">
      {logo && <img src={logo} alt="" height={40} />}
      <span dir="auto">{view.name}</span>
    </h1>
  )
}

/** The sentence about all, read out when it changes. */
export const Overall = ({ page: { view }, children }: { page: Page; children?: ComponentChildren }) => (
  <div id="overall" data-live class={`overall ${SIGNS[view.overall.status]}`} role="status">
    <OverallSign status={view.overall.status} />
    <p class="sentence">{view.overall.sentence}</p>
    {children}
  </div>
)

export const StaleNotice = ({ page: { view } }: { page: Page }) => (
  <div id="stale" data-live>
    {view.staleSince !== undefined && (
      <p class="stale">
        This page could not be refreshed. What it shows is from <Moment at={toMinute(view.staleSince)} />.
      </p>
    )}
  </div>
)

export const Updated = ({ at }: { at: string }) => <Moment at={toMinute(at)} />

/** All ways to hear of changes, behind one button that needs no script. */
export function Subscribe({ page: { view, voice } }: { page: Page }) {
  const links = linksOf(view)
  return (
    <details class="subscribe">
      <summary>{voice.subscribe}</summary>
      <ul>
        <li>
          <a href={links.subscribe}>By e-mail or webhook</a>
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

export const Footer = ({ page: { view } }: { page: Page }) => (
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
