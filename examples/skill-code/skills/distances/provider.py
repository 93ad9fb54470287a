from skillcell.skills import SkillToolContext, SkillToolProvider


class DistanceProvider(SkillToolProvider):
    @property
    def provider_name(self) -> str:
        return "distances"

    @property
    def supported_tools(self) -> list[str]:
        return ["to_kilometres"]

    def validate_config(self, tool_config) -> bool:
        return 0 <= tool_config["digits"] <= 6

    def create_tool(self, tool_name: str, context: SkillToolContext, tool_config=None):
        from .to_kilometres import ToKilometres

        return ToKilometres(digits=tool_config["digits"])
