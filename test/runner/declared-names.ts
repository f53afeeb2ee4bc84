import { parseSync } from 'vite'

interface SyntaxNode {
  type: string
  [field: string]: unknown
}

/**
 * The names that a file gives: of declarations, parameters, properties and members, and the values that read like one (`'not_routed'`) outside of
 * tests, whose strings are data. Names that it only uses, for example those of a library, are not among them.
 */
export function declaredNames(file: string, text: string): Set<string> {
  const names = new Set<string>()
  const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null && 'type' in value
  const add = (node: unknown) => {
    if (isNode(node) && (node.type === 'Identifier' || node.type === 'PrivateIdentifier')) names.add(node['name'] as string)
    else if (isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string') names.add(node['value'])
  }
  /** The names that a pattern such as `{ a, b: [c] }` binds. */
  const addPattern = (node: unknown): void => {
    if (!isNode(node)) return
    if (node.type === 'ObjectPattern')
      for (const property of node['properties'] as SyntaxNode[]) addPattern(property['value'] ?? property['argument'])
    else if (node.type === 'ArrayPattern') for (const element of node['elements'] as unknown[]) addPattern(element)
    else if (node.type === 'AssignmentPattern') addPattern(node['left'])
    else if (node.type === 'RestElement') addPattern(node['argument'])
    else if (node.type === 'TSParameterProperty') addPattern(node['parameter'])
    else add(node)
  }
  const walk = (node: SyntaxNode): void => {
    if (node.type === 'ImportSpecifier') {
      if ((node['imported'] as SyntaxNode)['name'] !== (node['local'] as SyntaxNode)['name']) add(node['local'])
      return
    }
    if (node.type === 'VariableDeclarator' || /^(Function|Class|TS(Interface|TypeAlias|Enum))/.test(node.type)) addPattern(node['id'])
    if (Array.isArray(node['params'])) for (const parameter of node['params'] as unknown[]) addPattern(parameter)
    if (Array.isArray(node['parameters'])) for (const parameter of node['parameters'] as unknown[]) addPattern(parameter)
    if (/Property(Definition|Signature)?$|Method(Definition|Signature)$/.test(node.type) && node['computed'] !== true) add(node['key'])
    if (node.type === 'Literal' && typeof node['value'] === 'string' && /^[a-z]+(_[a-z]+)*$/.test(node['value']) && !file.startsWith('test/'))
      add(node)
    for (const value of Object.values(node))
      if (isNode(value)) walk(value)
      else if (Array.isArray(value)) value.filter(isNode).forEach(walk)
  }
  walk(parseSync(file, text).program as unknown as SyntaxNode)
  return names
}
