/**
 * SQL: the membership `m` is of the person in whose name the organization `o` was founded. The first member has the time of
 * the organization; an invitation comes later. The operator's own project is made at the command line.
 */
export const IS_FOUNDER = `m.created_at = o.created_at AND NOT EXISTS (
  SELECT FROM operator_project op JOIN projects p ON p.id = op.project_id WHERE p.organization_id = o.id)`
