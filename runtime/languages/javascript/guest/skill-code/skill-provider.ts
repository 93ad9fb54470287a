/** The module `skillcell/skills` that providers of skills import. */

/**
 * Base class of providers: `provider_name`, `supported_tools`, `create_tool(name, context, config)` and `validate_config(config)`,
 * or the same in camel case.
 */
export abstract class SkillToolProvider {
  declare readonly provider_name?: string;
  declare readonly supported_tools?: readonly string[];
}

const defaults: { SkillToolProvider: typeof SkillToolProvider } = { SkillToolProvider };
export default defaults;
