export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
  example?: unknown
}

export interface OpenApiMedia {
  schema: JsonSchema
  example?: unknown
  examples?: Record<string, { value: unknown }>
  'x-events'?: Record<string, JsonSchema>
}
export interface OpenApiResponse {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, OpenApiMedia>
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  /** The scope that an API token needs. */
  'x-token-scope'?: string
  security?: Record<string, never[]>[]
  parameters?: OpenApiParameter[]
  requestBody?: { required: boolean; content: Record<string, OpenApiMedia> }
  responses: Record<string, OpenApiResponse>
}

/** As much of a JSON Schema as we read ourselves; the rest passes through. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
  [keyword: string]: unknown
}
