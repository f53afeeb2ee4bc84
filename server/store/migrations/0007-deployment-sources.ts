/** The sources of deployments in the vocabulary of `contract/deployment-source.ts`: `snapshot` and `bundle` become `folder` and `archive` with `of`. */
export const deploymentSourcesSql = `
UPDATE deployments SET source_request = json_object(
  'kind', 'folder',
  'path', coalesce((
    SELECT json_extract(original.source_request, '$.path') FROM deployments AS original
    WHERE original.id = json_extract(deployments.source_request, '$.deployment_id')
  ), ''),
  'of', json_extract(source_request, '$.deployment_id'))
WHERE json_extract(source_request, '$.kind') = 'snapshot';
UPDATE deployments SET source_request = CASE json_extract(source_request, '$.deployment_id')
  WHEN id THEN json_object('kind', 'archive')
  ELSE json_object('kind', 'archive', 'of', json_extract(source_request, '$.deployment_id')) END
WHERE json_extract(source_request, '$.kind') = 'bundle';
`
