/**
 * SQL: the membership `m` is that of the founder of the organization `o`. The first membership has the creation time of
 * the organization; invitations are later. The operator project is created at the command line and has no founder.
 */
export const IS_FOUNDER = `m.created_at = o.created_at AND NOT EXISTS (
  SELECT FROM operator_project op JOIN projects p ON p.id = op.project_id WHERE p.organization_id = o.id)`
