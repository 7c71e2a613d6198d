/** The address of a page for visitors; a link while the page is published. */
export const PublicAddress = ({ url, isPublished }: { url: string; isPublished: boolean }) =>
  isPublished && /^https?:/.test(url) ? (
    <a href={url}>
      <bdi>{url}</bdi>
    </a>
  ) : (
    <bdi>{url}</bdi>
  )
