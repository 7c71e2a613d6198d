import type { Knex } from 'knex'

/** Status pages of a project with their components, groups and images. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE status_pages (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL CONSTRAINT status_pages_slug UNIQUE,
      template text NOT NULL,
      brand_color text NOT NULL,
      -- as it was entered; visitors get a sanitized version
      custom_css text,
      seo_title text,
      seo_description text,
      is_published boolean NOT NULL DEFAULT false,
      show_response_times boolean NOT NULL DEFAULT true,
      show_uptime_percentage boolean NOT NULL DEFAULT true,
      custom_domain text CHECK (custom_domain = lower(custom_domain)),
      -- null: ownership is not verified yet, so nothing is served there and other pages may claim it
      custom_domain_verified_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX status_pages_by_project ON status_pages (project_id, id DESC);
    CREATE UNIQUE INDEX status_pages_custom_domain ON status_pages (custom_domain)
      WHERE custom_domain_verified_at IS NOT NULL;

    CREATE TABLE status_page_groups (
      id uuid PRIMARY KEY,
      page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      display_order integer NOT NULL,
      is_collapsed boolean NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (page_id, id)
    );

    CREATE TABLE status_page_components (
      id uuid PRIMARY KEY,
      page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
      group_id uuid,
      name text NOT NULL,
      description text,
      monitor_id uuid REFERENCES monitors ON DELETE SET NULL,
      display_order integer NOT NULL,
      -- set by people; unknown while a monitor determines it, and after that monitor was deleted
      status text NOT NULL CHECK (status IN ('operational', 'degraded', 'outage', 'unknown')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      -- a group of the same page; null: the component is not in a group
      FOREIGN KEY (page_id, group_id) REFERENCES status_page_groups (page_id, id) ON DELETE SET NULL (group_id)
    );
    CREATE INDEX status_page_components_by_page ON status_page_components (page_id, display_order, id);
    CREATE INDEX status_page_components_by_group ON status_page_components (page_id, group_id);
    CREATE INDEX status_page_components_by_monitor ON status_page_components (monitor_id);

    CREATE TABLE status_page_images (
      id uuid PRIMARY KEY,
      page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('logo', 'favicon')),
      content_type text NOT NULL,
      bytes bytea NOT NULL CHECK (length(bytes) <= 1048576),
      -- where it was fetched from; null: it was uploaded
      source_url text,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (page_id, kind)
    );
  `)
}
