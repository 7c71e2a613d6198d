import { type Db, execute, isUniqueViolation, query } from '../../foundation/platform/postgres/client.ts'

export type DomainRow = { id: string; projectId: string; domain: string | null; verifiedAt: Date | null }

const COLUMNS = `id, project_id AS "projectId", custom_domain AS domain, custom_domain_verified_at AS "verifiedAt"`

/** The custom domain of a page; null when the project has no such page. */
export async function findDomain(db: Db, projectId: string, pageId: string): Promise<DomainRow | null> {
  const sql = `SELECT ${COLUMNS} FROM status_pages WHERE project_id = ? AND id = ?`
  const [row] = await query<DomainRow>(db, sql, [projectId, pageId])
  return row ?? null
}

/** The page for which a domain is verified. */
export async function findDomainOwner(db: Db, domain: string): Promise<DomainRow | null> {
  const sql = `SELECT ${COLUMNS} FROM status_pages WHERE custom_domain = ? AND custom_domain_verified_at IS NOT NULL`
  const [row] = await query<DomainRow>(db, sql, [domain])
  return row ?? null
}

/** Sets or removes (null) the domain of a page. A different domain is not verified. */
export async function setDomain(db: Db, pageId: string, domain: string | null, now: Date): Promise<void> {
  await execute(
    db,
    `UPDATE status_pages
     SET custom_domain = :domain, updated_at = :now,
       custom_domain_verified_at = CASE WHEN custom_domain = :domain THEN custom_domain_verified_at END
     WHERE id = :pageId`,
    { pageId, domain, now },
  )
}

/**
 * Marks the domain as verified, so the page is served there. False when another page has it, or the page has another
 * domain by now.
 */
export async function markVerified(db: Db, pageId: string, domain: string, now: Date): Promise<boolean> {
  try {
    const touched = await execute(
      db,
      `UPDATE status_pages SET custom_domain_verified_at = COALESCE(custom_domain_verified_at, :now), updated_at = :now
       WHERE id = :pageId AND custom_domain = :domain`,
      { pageId, domain, now },
    )
    return touched === 1
  } catch (error) {
    if (isUniqueViolation(error, 'status_pages_custom_domain')) return false
    throw error
  }
}

/** Marks the domain as not verified, when another page has proven ownership. */
export async function clearVerified(db: Db, pageId: string, domain: string, now: Date): Promise<void> {
  await execute(
    db,
    `UPDATE status_pages SET custom_domain_verified_at = NULL, updated_at = ? WHERE id = ? AND custom_domain = ?`,
    [now, pageId, domain],
  )
}

/** Whether a certificate may be issued for a domain: verified, and its page published. */
export async function isDomainServed(db: Db, domain: string): Promise<boolean> {
  const rows = await query(
    db,
    'SELECT 1 FROM status_pages WHERE custom_domain = ? AND custom_domain_verified_at IS NOT NULL AND is_published',
    [domain],
  )
  return rows.length > 0
}
