import { z } from 'zod'
import { exampleOf } from '../../server/api/openapi/examples.ts'
import type { JsonSchema } from '../../server/api/openapi/types.ts'

/** An object of the contract, as in the examples of the API reference, with some fields of its own. */
export const createExample = <Schema extends z.ZodObject>(schema: Schema, own: Partial<z.output<Schema>> = {}): z.output<Schema> => ({
  ...(exampleOf(z.toJSONSchema(schema) as JsonSchema, '', {}) as z.output<Schema>),
  ...own,
})
