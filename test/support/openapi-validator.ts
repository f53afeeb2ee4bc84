import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../server/api/openapi/document.ts'

const escapePointer = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')

/** Validates values against an OpenAPI document as a client would. */
export function createOpenApiValidator(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')

  /** The errors of a value by the schema at a JSON pointer. */
  function validateValue(pointer: string, value: unknown): unknown[] {
    const validate = ajv.getSchema(`openapi#${pointer}`)
    if (!validate) throw new Error(`there is nothing at ${pointer}`)
    return validate(value) ? [] : (validate.errors ?? [])
  }

  return {
    faults: validateValue,
    /** The pointer of an operation, by method and path. */
    pointerOf: (method: string, path: string) => `/paths/${escapePointer(path)}/${method.toLowerCase()}`,
    /** The errors of a response: an undeclared status, a wrong content type, a body that does not match. */
    validateResponse(operation: { method: string; path: string }, response: { status: number; type: string | null; text: string }): unknown[] {
      const specification = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses[String(response.status)]
      if (!specification) return [`${response.status} is not named for ${operation.method} ${operation.path}`]
      const types = Object.keys(specification.content ?? {})
      const type = response.type?.split(';')[0] ?? ''
      if (types.length === 0) return response.text === '' ? [] : ['a body where none is described']
      if (!types.includes(type)) return [`“${type}” where ${types.join(', ')} is described`]
      if (type !== 'application/json') return []
      const pointer = `/paths/${escapePointer(operation.path)}/${operation.method.toLowerCase()}/responses/${response.status}/content/${escapePointer(type)}/schema`
      return validateValue(pointer, JSON.parse(response.text))
    },
  }
}

export type OpenApiValidator = ReturnType<typeof createOpenApiValidator>
